"""How to start a server in a setting outside of torr: its command, variables, files."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING

from torr.model.secret_names import REDACTED, is_secret
from torr.model.secrets import redacted_command, redacted_text
from torr.results.tuning import SettingUse
from torr.servers.placeholders import fill

if TYPE_CHECKING:
    from torr.model.settings import Setting
    from torr.servers.preparation import Preparation
    from torr.sources.tune_file import TuneFile

# Names that stay: each start has others.
_LEFT = {name: f"{{{name}}}" for name in ("port", "scratch")}
# A trial has one process, unless a parameter of this name says how many.
_PROCESSES = {"processes": "1"}


def setting_use(file: TuneFile, setting: Setting) -> SettingUse:
    """Return the command, variables and files of a setting; the port stays a placeholder.

    Of the path of a file, only its name is left.
    """
    preparation = file.preparation
    paths = _file_names(preparation)
    values = {**_LEFT, **_PROCESSES, **preparation.otherwise, **setting, **paths}
    command = file.candidate_in(setting).command
    own = {parameter.variable for parameter in file.parameters}
    words = redacted_command(command.argv)

    def filled(text: str, where: str) -> str:
        # Values of parameters are no secrets, whatever the name before them.
        return fill(redacted_text(text), values, where)

    return SettingUse(
        command=shlex.join(fill(word, values, "command") for word in words),
        env={
            name: REDACTED if is_secret(name) and name not in own else filled(value, name)
            for name, value in command.env
        },
        files={
            paths[template.name]: filled(template.text, template.name)
            for template in preparation.templates
        },
        before=[
            shlex.join(filled(word, "before") for word in words) for words in preparation.before
        ],
    )


def _file_names(preparation: Preparation) -> dict[str, str]:
    """Return the names of the filled files by template; two files of one name get longer ones."""
    count = Counter(template.path.name for template in preparation.templates)
    return {
        template.name: file if count[file] == 1 else f"{template.name}-{file}"
        for template in preparation.templates
        for file in (template.path.name,)
    }
