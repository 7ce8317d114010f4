"""`torr doctor`: measure what load this machine can generate, and check its limits."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from torr.cli.command import Verb
from torr.cli.flags import Parameter, flags_of
from torr.cli.streams import echo, printed
from torr.errors import UsageError
from torr.messages.say import changed, say
from torr.options import readers
from torr.options.definition import build_options, require_for
from torr.options.doctor import DOCTOR, DoctorOptions
from torr.report.data.result_words import word_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torr.experiments.diagnosis import Finding
    from torr.experiments.doctor import Examination
    from torr.self_test import Report

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
def doctor(url: str | None, **flags: Any) -> None:  # noqa: ANN401
    """Measure what load this machine can generate; send no request to URL."""
    from torr.experiments.diagnosis import findings
    from torr.experiments.doctor import doctor as examine
    from torr.report.text.doctor import as_json

    options = build_options(DoctorOptions, flags)
    if options.nodes is not None:
        _doctor_of_nodes(url, options)
        return
    require_for(options, "cluster", what="--nodes", hint="give --nodes all")
    with _progress_line() as report:
        examination = examine(url, report)
    all_findings = findings(examination)
    if options.output == "json":
        _print_json(as_json(examination, all_findings))
    else:
        _show(examination, all_findings, quiet=options.quiet)


def _doctor_of_nodes(url: str | None, options: DoctorOptions) -> None:
    """Examine nodes of a cluster, and print a row for each and what needs attention."""
    from torr.cli.display.nodes import show_nodes
    from torr.cli.screen import Screen, stdout_console
    from torr.experiments.interrupt import Interrupt
    from torr.experiments.node_doctor import examine
    from torr.planning.cluster import address_of, connected
    from torr.report.text.doctor import nodes_as_json

    target = None if url is None else _host_and_port(url)
    address_of(options.cluster)
    with _progress_line() as report:
        report(say("starting torr on the nodes"))
        with connected(options, Interrupt()) as cluster:
            examinations = examine(cluster, target, report)
    if options.output == "json":
        _print_json(nodes_as_json(examinations))
    else:
        show_nodes(examinations, Screen(stdout_console(), printed.language), quiet=options.quiet)


def _host_and_port(url: str) -> tuple[str, int]:
    """Return what nodes connect to; raise UsageError for a Unix socket."""
    from torr.model.url import Url

    parts = Url.parse(url)
    if parts.socket is not None:
        raise UsageError(
            say("URL: {url!r} is a Unix socket, which other nodes cannot reach", url=url)
        )
    return parts.host.strip("[]"), parts.endpoint[2]


def _print_json(found: dict[str, Any]) -> None:
    click.echo(json.dumps(found, indent=1, ensure_ascii=False))


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
