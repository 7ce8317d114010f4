"""How to start a server in a setting outside of torr: its command, variables, files."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from torr.model.secret_names import REDACTED, is_secret
from torr.model.secrets import redacted_text
from torr.results.tuning import SettingUse
from torr.servers.placeholders import fill

if TYPE_CHECKING:
    from torr.model.settings import Setting
    from torr.sources.tune_file import TuneFile

# Names that stay: each start has others.
_LEFT = {name: f"{{{name}}}" for name in ("port", "scratch", "processes")}


def setting_use(file: TuneFile, setting: Setting) -> SettingUse:
    """Return the command, variables and files of a setting; the port stays a placeholder.

    The path of a file is the name of its template.
    """
    preparation = file.preparation
    paths = {template.name: template.path.name for template in preparation.templates}
    values = {**_LEFT, **preparation.otherwise, **setting, **paths}
    candidate = file.candidate_in(setting).command
    argv = tuple(fill(word, values, "command") for word in candidate.argv)
    return SettingUse(
        command=replace(candidate, argv=argv).redacted(),
        env={
            name: REDACTED if is_secret(name) else redacted_text(fill(value, values, name))
            for name, value in candidate.env
        },
        files={
            template.path.name: redacted_text(fill(template.text, values, template.name))
            for template in preparation.templates
        },
        before=[
            redacted_text(shlex.join(fill(word, values, "before") for word in words))
            for words in preparation.before
        ],
    )
