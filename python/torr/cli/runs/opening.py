"""`torr runs open`: open the page of a run in the store."""

from __future__ import annotations

import os
from pathlib import Path

import click

from torr.cli.command import Verb
from torr.cli.flags import shared
from torr.cli.runs import selection
from torr.cli.streams import echo_pair, show_notes
from torr.errors import OutputError
from torr.messages.say import say
from torr.options.result import ResultOptions
from torr.store.runs.reading import reading

EXAMPLES = ("torr runs open 12",)


@click.command("open", cls=Verb, examples=EXAMPLES)
@selection.one_id
@shared(ResultOptions, "language")
def open_page(run_id: int, language: str | None) -> None:
    """Open the page of a run of the store in a browser, and print its path."""
    import webbrowser

    from torr.report.files import html
    from torr.store.runs.store import open_store

    with open_store() as store:
        stored, result = store.run(run_id), store.result(run_id)
    folder = _cache() / "torr" / "runs" / stored.uid
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with reading(run_id):
            html.write(result, folder, language)
    except OSError as error:
        raise OutputError(
            say(
                "{folder}: cannot be written: {error}", folder=folder, error=error.strerror or error
            ),
            say("set XDG_CACHE_HOME, or write the page elsewhere with `torr runs export`"),
        ) from error
    page = folder / "report.html"
    echo_pair(say("page"), click.format_filename(page))
    if not webbrowser.open(page.as_uri()):
        show_notes([say("no browser could be started here")])


def _cache() -> Path:
    """Return the cache directory by the XDG base directory specification."""
    path = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return path if path.is_absolute() else Path("~/.cache").expanduser()
