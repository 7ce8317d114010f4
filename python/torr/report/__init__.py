"""Files that present a run: page, summary, tables, plots. Everything is drawn from result.json.

Nothing is measured or judged here: verdicts come from `torr.verdicts`, sentences from `text`.
Matplotlib is imported when a picture is drawn, not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import say

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from torr.messages.say import Language
    from torr.results.result import RunResult


def write_all(result: RunResult, directory: Path, language: Language | None = None) -> list[Path]:
    """Write every file that presents `result` into `directory`; return their paths.

    Always report.html, summary.md and levels.csv; of a ladder NAME.dat and its PNGs as well, of a
    diff its two PNGs, of a comparison or a tuning its PNG; flame.svg of a profile. All in
    `language`; without one the page is in its reader's, and the rest in English. Each file is
    replaced whole or not at all. Raises OutputError.
    """
    from functools import partial

    from torr.errors import OutputError
    from torr.report.files import csv, dat, flame_svg, html, markdown, png

    writers: list[Callable[[RunResult, Path], list[Path]]]
    page = partial(html.write, lang=language)
    summary = partial(markdown.write, language=language or "en")
    flame = partial(flame_svg.write, language=language or "en")
    writers = [page, summary, csv.write, flame]
    if result.kind == "ladder":
        writers += [dat.write, png.write_ladder]
    if result.kind == "diff":
        writers += [png.write_diff]
    if result.kind == "compare":
        writers += [png.write_comparison]
    if result.kind == "tune":
        writers += [png.write_tuning]
    try:
        return [path for write in writers for path in write(result, directory)]
    except OSError as error:
        message = say(
            "{directory}: the report could not be written: {error}",
            directory=directory,
            error=error.strerror or error,
        )
        raise OutputError(
            message, say("result.json is complete; free disk space and draw the report again")
        ) from error
