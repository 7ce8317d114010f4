"""The command `torr`: its subcommands, and the exit code for every error."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NoReturn

import click

from torr import __version__
from torr.cli.command import Verbs
from torr.cli.streams import prepare_streams, printed, show_notes
from torr.cli.wrapping import for_stream
from torr.errors import ExitCode, TorrError, exit_code
from torr.messages.say import render, say

if TYPE_CHECKING:
    from torr.cli.streams import LossyFile

VERBS = {
    "demo": ("torr.cli.demo:demo", "find the capacity of a built-in target, in about a minute"),
    "init": ("torr.cli.init:init", "write a plan file for a URL or an OpenAPI document"),
    "run": ("torr.cli.run:run", "fire one level of load at a URL"),
    "ladder": ("torr.cli.ladder:ladder", "find the capacity of a URL, level after level"),
    "compare": ("torr.cli.compare:compare", "start servers in turn, and judge which is faster"),
    "tune": ("torr.cli.tune:tune", "find the best settings of a server that keep its SLOs"),
    "diff": ("torr.cli.diff:diff", "compare two runs"),
    "runs": ("torr.cli.runs.group:runs", "find, compare and tag the runs of the store"),
    "serve": ("torr.cli.serve:serve", "serve the runs of the store to a browser"),
    "locust": ("torr.cli.locust:locust", "run locustfiles unchanged, and save their results"),
    "cluster": ("torr.cli.clusters.group:cluster", "start and end a Ray cluster for --nodes"),
    "doctor": ("torr.cli.doctor:doctor", "measure what load this machine can generate"),
    "target": ("torr.cli.target:target", "serve a target to try torr on"),
}

EXAMPLES = (
    "torr run http://localhost:8080/healthz",
    "torr run -c 200 -z 30s --slo 'p95 < 500ms' http://localhost:8080/healthz",
    "torr ladder --levels auto http://localhost:8080/healthz",
    "torr diff _output/torr/before.dat _output/torr/after.dat",
    "torr runs ledger api",
    "torr locust -f locustfile.py --headless -u 100 -t 1m",
    "torr doctor http://localhost:8080/",
    "torr target delay --delay 5ms --capacity 64 --port 8080",
)

_HELP = "Pressure testing for APIs: how much can it take, and can the number be believed?"


@click.group(cls=Verbs, verbs=VERBS, examples=EXAMPLES, help=_HELP)
@click.version_option(__version__, prog_name="torr")
def torr() -> None:
    """Pass the arguments on to a command."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run a command and end the process with its exit code."""
    stdout = prepare_streams()
    printed.reset()
    try:
        _run(arguments, stdout)
    finally:
        printed.forget()


def _run(arguments: list[str] | None, stdout: LossyFile | None) -> NoReturn:
    try:
        torr.main(arguments, prog_name="torr", standalone_mode=False)
        sys.stdout.flush()
    except TorrError as error:
        _end(error.text, exit_code(error))
    except click.exceptions.Exit as error:
        sys.exit(error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(ExitCode.USAGE)
    except click.UsageError as error:
        from torr.cli.usage import explained  # only errors need it

        _end(explained(error).text, ExitCode.USAGE)
    except click.ClickException as error:
        _end(error.format_message(), ExitCode.USAGE)
    except (click.Abort, KeyboardInterrupt):
        _end(say("interrupted before anything was measured"), ExitCode.INTERRUPTED)
    except Exception as error:
        _print_traceback()
        reason = say("this is a defect of torr: please report it with the lines above")
        _end(reason, exit_code(error))
    _end_successfully(None if stdout is None else stdout.loss)


def _print_traceback() -> None:
    from traceback import format_exc  # only a defect needs it

    from torr.model.printable import safe_text

    click.echo(safe_text(format_exc()), err=True, nl=False)


def _end(message: str, code: ExitCode) -> NoReturn:
    from torr.model.printable import safe_text  # takes 10 ms to import, and only errors need it

    text = f"torr: {safe_text(render(message, printed.language))}"
    click.echo(for_stream(text, sys.stderr), err=True)
    sys.exit(code)


def _end_successfully(loss: str | None) -> NoReturn:
    """Exit; lost output is an error unless the result is in files, too."""
    if loss is not None and not printed.is_in_files:
        _end(say("stdout cannot be written: {loss}", loss=loss), ExitCode.USAGE)
    if loss is not None:
        show_notes([say("stdout cannot be written: {loss}; the result is in files", loss=loss)])
    sys.exit(ExitCode.FINE)
