"""`torr runs list`: print a line per run in the store."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from torr.cli.command import Verb
from torr.cli.flags import flags_of
from torr.cli.runs import selection
from torr.cli.streams import echo, printed
from torr.messages.say import say
from torr.options.definition import build_options
from torr.options.stored_runs import LIST, ListOptions
from torr.report.data.result_words import word_text
from torr.units import show_ms, show_percent, show_rate

if TYPE_CHECKING:
    from torr.store.runs.stored_run import StoredRun

EXAMPLES = (
    "torr runs list",
    "torr runs list --name api --tag baseline --since 7d",
    "torr runs list -o json --most 1000",
)

COLUMNS = (
    *(say("run"), say("when (local)"), say("name"), say("kind"), say("status"), say("at")),
    *("ok/s", "p95", say("success"), say("commit"), say("tags"), say("note")),
)
LEAST = ("commit", "status", "success", "at", "kind", "p95", "tags")
"""Columns in the order in which a narrow terminal leaves them out."""
WIDEST_NOTE = 40


@click.command("list", cls=Verb, examples=EXAMPLES)
@flags_of(LIST)
def listing(**flags: Any) -> None:  # noqa: ANN401
    """List runs of the store, the newest first, each with its best level."""
    from torr.store.runs.store import Filter, open_store

    options = build_options(ListOptions, flags)
    with open_store() as store:
        runs = store.find(selection.filter_of(options, options.name), most=options.most)
        holds_any = bool(runs or store.find(Filter(), most=1))
        place = store.url
    if options.output == "json":
        click.echo(json.dumps([run.as_json() for run in runs], indent=2, ensure_ascii=False))
    elif not runs:
        echo(
            say("no run in the store matches")
            if holds_any
            else say("there is no run in {place}", place=place)
        )
    else:
        _print(runs)


def _print(runs: list[StoredRun]) -> None:
    from torr.cli.screen import UNCUT, Screen, stdout_console

    out = Screen(stdout_console(), printed.language)
    left = frozenset({1, 2, 3, 4, 9, 10, 11})
    note_width = WIDEST_NOTE if out.width < UNCUT else UNCUT
    rows = tuple(_row(run, note_width) for run in runs)
    out.table(out.columns(COLUMNS, rows, left).fitting(out.width, LEAST))


def _place(run: StoredRun) -> str:
    """Return the best level: its users or connections, or its rate."""
    if run.rate is not None:
        return f"{show_rate(run.rate)}/s"
    return "–" if run.concurrency is None else f"{run.concurrency:,}"


def _row(run: StoredRun, note_width: int) -> tuple[str, ...]:
    from torr.cli.columns import cut

    return (
        f"{run.id}",
        f"{run.started.astimezone():%Y-%m-%d %H:%M}",
        run.name,
        word_text(run.kind),
        word_text(run.status),
        _place(run),
        ("≥ " if run.at_least else "") + show_rate(run.ok_per_s),
        show_ms(run.p95_ms),
        show_percent(run.success_rate),
        (run.git_commit or "")[:8],
        " ".join(run.tags),
        cut(run.note or "", note_width),
    )
