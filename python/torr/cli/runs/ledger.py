"""`torr runs ledger`: a tuning session: change one thing, run again, compare."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from torr.cli.command import Verb
from torr.cli.flags import flags_of
from torr.cli.runs import choosing
from torr.errors import require
from torr.options.definition import made
from torr.options.kept import LEDGER, LedgerOptions
from torr.report.files import ledger as ledger_text

if TYPE_CHECKING:
    from torr.messages.say import Language
    from torr.webserver.history.session import TuningSession

EXAMPLES = (
    "torr run --note 'api 1.2 CPU' -n api URL",
    "torr runs ledger api",
    "torr runs ledger api --request 'simple chat' -o markdown",
)

LEAST = ("when (UTC)", "load", "trials", "success", "to the best so far")
"""What a narrow terminal can do without: the first goes first."""


@click.command("ledger", cls=Verb, examples=EXAMPLES)
@click.argument("name", metavar="NAME")
@flags_of(LEDGER)
def ledger(name: str, **flags: Any) -> None:  # noqa: ANN401
    """Show what each run of NAME changed, and whether that is more than noise."""
    options = made(LedgerOptions, flags)
    found = ledger_of(name, options)
    language: Language = options.language or "en"
    if options.output == "json":
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
    elif options.output == "markdown":
        click.echo(ledger_text.markdown(found, language), nl=False)
    elif options.output == "csv":
        click.echo(ledger_text.comma_separated(found), nl=False)
    else:
        _print(found, language)


def ledger_of(name: str, options: LedgerOptions) -> dict[str, Any]:
    """The ledger of the runs that are meant, the oldest first."""
    from torr.store.runs.store import open_store
    from torr.webserver.history.session import TuningSelection, TuningSession

    runs = choosing.filter_of(options, name)
    wanted = TuningSelection(runs, options.request, options.at, options.baseline)
    with open_store() as store:
        session = TuningSession(store, wanted)
        require(bool(session.runs), f"no kept run of {name!r} is meant", "see `torr runs list`")
        found = session.ledger()
    _check(session, name, options)
    tag = options.baseline
    require(
        tag is None or found["baseline"] is not None,
        f"--baseline {tag}: no kept run of {name!r} has this tag",
        f"torr runs tag ID {tag}",
    )
    return found


def _check(session: TuningSession, name: str, options: LedgerOptions) -> None:
    """Refuse a level or a request that no run has: it was mistyped."""
    levels = [f"{level:,}" for level in sorted(session.levels)]
    for key, asked, word, known in (
        ("at", options.at, "level", levels),
        ("request", options.request, "request", session.requests),
    ):
        require(
            asked is None or not session.levels or _shown(asked) in known,
            f"--{key} {asked}: no run of {name!r} has this {word}",
            f"there is {', '.join(known)}" if known else "leave it out: there is one, of no name",
        )


def _shown(asked: str | int) -> str:
    return asked if isinstance(asked, str) else f"{asked:,}"


def _print(found: dict[str, Any], language: Language) -> None:
    from rich.console import Console

    from torr.cli.screen import Screen
    from torr.report.tables import history_table

    out = Screen(Console(highlight=False, soft_wrap=True), language)
    out.line(history_table.sentence(found), "bold")
    out.line()
    content = history_table.table(found)
    out.table(out.columns(content.columns, content.rows, content.words).fitting(out.width, LEAST))
