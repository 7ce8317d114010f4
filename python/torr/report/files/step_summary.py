"""The summary on the page of a step of GitHub Actions, whose runner names a file for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import say
from torr.report.files import markdown

if TYPE_CHECKING:
    from pathlib import Path

    from torr.results.result import RunResult

VARIABLE = "GITHUB_STEP_SUMMARY"
MOST_BYTES = 1 << 20
"""GitHub shows nothing of a step that has written more."""


def append(result: RunResult, path: Path) -> str | None:
    """Append a result's summary; return why it could not be done, or None.

    A file that is full or missing does not fail the run.
    """
    text = markdown.text(result).encode()
    try:
        with path.open("ab") as file:
            if file.tell() + len(text) + 1 > MOST_BYTES:
                return say("{path}: the step's summary has no room for this run", path=path)
            file.write(b"\n" + text if file.tell() else text)
    except OSError as error:
        return say(
            "{path}: the step's summary cannot be written: {error}",
            path=path,
            error=error.strerror or error,
        )
    return None
