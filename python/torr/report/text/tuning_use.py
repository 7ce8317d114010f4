"""How to start the recommended setting of a tuning, as texts that can be copied."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from torr.messages.say import Text, say

if TYPE_CHECKING:
    from torr.report.data.tuning import Tuning


def instructions(tuning: Tuning) -> list[tuple[str, str]]:
    """Return titles and texts: commands with their variables, and the content of files."""
    use = tuning.outcome.use
    if use is None:
        return []
    variables = [f"{name}={shlex.quote(value)}" for name, value in use.env.items()]
    lines = [" ".join([*variables, use.command])]
    if use.before:
        # They get the variables of the server, too.
        exports = [" ".join(["export", *variables])] if variables else []
        lines = [*exports, *use.before, use.command]
    files = [(say("File {name}", name=name), text) for name, text in use.files.items()]
    return [(_title(tuning), "\n".join(lines)), *files]


def _title(tuning: Tuning) -> Text:
    """Return a title that recommends only what is better, or what the SLOs need."""
    outcome = tuning.outcome
    chosen = next((x for x in outcome.measured if x.setting == outcome.recommended), None)
    claim = None if chosen is None else chosen.against_default
    keeps = outcome.default is not None and outcome.default.slo in (None, "held")
    if claim is None or claim.word == "better" or not keeps:
        return say("The recommended setting")
    return say("The best setting, which is not shown to be better than the default")
