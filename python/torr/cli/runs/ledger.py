"""`torr runs ledger`: the runs of a tuning session, each compared with the best before it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from torr.cli.command import Verb
from torr.cli.flags import flags_of
from torr.cli.runs import selection
from torr.errors import require
from torr.messages.say import say
from torr.options.definition import build_options
from torr.options.stored_runs import LEDGER, LedgerOptions
from torr.report.files import ledger as ledger_text
from torr.results.base import builtins

if TYPE_CHECKING:
    from torr.messages.say import Language
    from torr.planning.tuning_session import TuningSession
    from torr.results.history import Ledger
    from torr.results.position import Position

EXAMPLES = (
    "torr run --note 'api 1.2 CPU' -n api URL",
    "torr runs ledger api",
    "torr runs ledger api --request 'simple chat' -o markdown",
)

LEAST = ("when (UTC)", "load", "trials", "success", "to the best so far")
"""Columns in the order in which a narrow terminal leaves them out."""


@click.command("ledger", cls=Verb, examples=EXAMPLES)
@click.argument("name", metavar="NAME")
@flags_of(LEDGER)
def ledger(name: str, **flags: Any) -> None:  # noqa: ANN401
    """Show what each run of NAME changed, and whether that is more than noise."""
    options = build_options(LedgerOptions, flags)
    entries = ledger_of(name, options)
    language: Language = options.language or "en"
    if options.output == "json":
        click.echo(json.dumps(builtins(entries), indent=2, ensure_ascii=False))
    elif options.output == "markdown":
        click.echo(ledger_text.markdown(entries, language), nl=False)
    elif options.output == "csv":
        click.echo(ledger_text.comma_separated(entries), nl=False)
    else:
        _print(entries, language)


def ledger_of(name: str, options: LedgerOptions) -> Ledger:
    """Return the ledger of the selected runs, the oldest first."""
    from torr.planning.tuning_session import TuningSelection, TuningSession
    from torr.store.runs.store import open_store

    runs = selection.filter_of(options, name)
    wanted = TuningSelection(runs, options.request, options.at, options.baseline)
    with open_store() as store:
        session = TuningSession(store, wanted)
        require(
            bool(session.runs),
            say("no run of {name!r} in the store matches", name=name),
            say("see `torr runs list`"),
        )
        ledger = session.ledger()
    _check(session, name, options)
    tag = options.baseline
    require(
        tag is None or ledger.baseline is not None,
        say("--baseline {tag}: no run of {name!r} in the store has this tag", tag=tag, name=name),
        f"torr runs tag ID {tag}",
    )
    return ledger


def _check(session: TuningSession, name: str, options: LedgerOptions) -> None:
    """Refuse a level or a request that no run has."""
    levels = [f"{level:,}" for level in sorted(session.levels)]
    for key, value, word, known in (
        ("at", options.at, "level", levels),
        ("request", options.request, "request", session.requests),
    ):
        require(
            value is None or not session.levels or _shown(value) in known,
            say(
                "--{key} {value}: no run of {name!r} has this {word}",
                key=key,
                value=value,
                name=name,
                word=word,
            ),
            say("choose one of {known}", known=", ".join(known))
            if known
            else say("leave it out: the runs have one request, without a name"),
        )


def _shown(value: str | Position) -> str:
    return value if isinstance(value, str) else f"{value:,}"


def _print(ledger: Ledger, language: Language) -> None:
    from torr.cli.screen import Screen, stdout_console
    from torr.report.tables import history_table

    out = Screen(stdout_console(), language)
    out.line(history_table.sentence(ledger), "bold")
    out.line()
    content = history_table.table(ledger)
    out.table(out.columns(content.columns, content.rows, content.words).fitting(out.width, LEAST))
