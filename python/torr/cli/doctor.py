"""`torr doctor`: measure what load this machine can generate, and check its limits."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from torr.cli.command import Verb
from torr.cli.flags import Parameter, flags_of
from torr.cli.streams import echo, printed
from torr.messages.say import changed
from torr.options import readers
from torr.options.doctor import DOCTOR
from torr.report.data.result_words import word_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torr.experiments.diagnosis import Finding
    from torr.experiments.doctor import Examination, Report

EXAMPLES = (
    "torr doctor",
    "torr doctor http://localhost:8080/",
    "torr doctor -o json",
)
CLEAR = "\r\x1b[K"
_WORD, _NAME = 5, 16  # cells of the terminal


@click.command(cls=Verb, examples=EXAMPLES)
@click.argument("url", type=Parameter(readers.URL), metavar="URL", required=False)
@flags_of(DOCTOR)
def doctor(url: str | None, output: str, *, quiet: bool) -> None:
    """Measure what load this machine can generate; send no request to URL."""
    from torr.experiments.diagnosis import findings
    from torr.experiments.doctor import doctor as examine

    with _progress_line() as report:
        examination = examine(url, report)
    all_findings = findings(examination)
    if output == "json":
        from torr.report.text.doctor import as_json

        click.echo(json.dumps(as_json(examination, all_findings), indent=1, ensure_ascii=False))
    else:
        _show(examination, all_findings, quiet=quiet)


@contextmanager
def _progress_line() -> Iterator[Report]:
    """Yield a function that shows the current step on a terminal; clear the line at the end."""
    is_terminal = sys.stderr.isatty()

    def report(text: str) -> None:
        if is_terminal:
            echo(changed(text, lambda written: f"{CLEAR}{written} …"), err=True, nl=False)

    try:
        yield report
    finally:
        if is_terminal:
            click.echo(CLEAR, err=True, nl=False)


def _show(examination: Examination, all_findings: Sequence[Finding], *, quiet: bool) -> None:
    from rich.cells import set_cell_size
    from rich.console import Console

    from torr.cli.screen import Screen
    from torr.report.text.doctor import sentence, summary

    out = Screen(Console(highlight=False, soft_wrap=True), printed.language)
    out.line(sentence(examination), "bold")
    if quiet:
        return
    out.line(summary(all_findings))
    out.line()
    for finding in all_findings:
        colour = "green" if finding.word == "ok" else "yellow"
        name = set_cell_size(out.in_words(finding.name), _NAME)
        value = out.in_words(finding.value)
        out.pair(word_text(finding.word), colour, f"{name}{value}", _WORD)
        if finding.advice is not None:
            out.line(changed(finding.advice, lambda text: f"{'':<22}→ {text}"))
