"""How to start the recommended setting of a tuning, as texts that can be copied."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from torr.messages.say import say

if TYPE_CHECKING:
    from torr.report.data.tuning import Tuning


def instructions(tuning: Tuning) -> list[tuple[str, str]]:
    """Return titles and texts: commands with their variables, and the content of files."""
    use = tuning.outcome.use
    if use is None:
        return []
    variables = [f"{name}={shlex.quote(value)}" for name, value in use.env.items()]
    lines = [*use.before, " ".join([*variables, use.command])]
    files = [(say("File {name}", name=name), text) for name, text in use.files.items()]
    return [(say("The recommended setting"), "\n".join(lines)), *files]
