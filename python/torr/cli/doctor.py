"""`torr doctor`: what this machine can generate, before anything it measures is trusted."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from torr.cli.command import Verb
from torr.cli.flags import Parameter, flags_of
from torr.options import readers
from torr.options.doctor import DOCTOR

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torr.experiments.diagnosis import Finding
    from torr.experiments.doctor import Examination, Say

EXAMPLES = (
    "torr doctor",
    "torr doctor http://localhost:8080/",
    "torr doctor -o json",
)
CLEAR = "\r\x1b[K"


@click.command(cls=Verb, examples=EXAMPLES)
@click.argument("url", type=Parameter(readers.URL), metavar="URL", required=False)
@flags_of(DOCTOR)
def doctor(url: str | None, output: str, *, quiet: bool) -> None:
    """Measure what this machine can generate, and look at its limits; URL gets no request."""
    from torr.experiments.diagnosis import findings
    from torr.experiments.doctor import doctor as examine

    with _saying() as say:
        seen = examine(url, say)
    found = findings(seen)
    if output == "json":
        from torr.report.text.doctor import as_json

        click.echo(json.dumps(as_json(seen, found), indent=1, ensure_ascii=False))
    else:
        _show(seen, found, quiet=quiet)


@contextmanager
def _saying() -> Iterator[Say]:
    """One line on a terminal while it takes its seconds, gone at the end."""
    is_seen = sys.stderr.isatty()

    def say(text: str) -> None:
        if is_seen:
            click.echo(f"{CLEAR}{text} …", err=True, nl=False)

    try:
        yield say
    finally:
        if is_seen:
            click.echo(CLEAR, err=True, nl=False)


def _show(seen: Examination, found: Sequence[Finding], *, quiet: bool) -> None:
    from rich.console import Console
    from rich.text import Text

    from torr.report.text.doctor import sentence, summary

    out = Console(highlight=False, soft_wrap=True)
    out.print(Text(sentence(seen), "bold"))
    if quiet:
        return
    out.print(Text(summary(found)))
    out.print()
    for finding in found:
        colour = "green" if finding.word == "ok" else "yellow"
        out.print(Text(f"{finding.word:<5}", colour), Text(f"{finding.name:<16}{finding.value}"))
        if finding.advice is not None:
            out.print(Text(f"{'':<22}→ {finding.advice}"))
