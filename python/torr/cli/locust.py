"""`torr locust`: Locust itself with the client of torr, and a run for each of its tests.

Arguments, help, output and exit code are those of Locust.
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from torr.cli.command import Verb
from torr.cli.streams import echo_pair, printed, show_notes
from torr.errors import ExitCode, InterruptedRunError, require
from torr.messages.say import say
from torr.options.definition import options_of
from torr.options.locust import LocustOptions

if TYPE_CHECKING:
    from torr.cli.screen import Screen
    from torr.experiments.context import Outcome
    from torr.finishing.pipeline import FinishedRun
    from torr.options.definition import Option
    from torr.results.result import RunResult
    from torr.store.rundir import RunDirectory

EXAMPLES = (
    "torr locust -f locustfile.py --headless -u 100 -r 10 -t 1m -H http://localhost:8080",
    "torr locust -f locustfile.py --headless --processes 2 --torr-out runs -H http://localhost:8080",
)

_NEEDED_AT_THE_END = (
    "numpy",
    "torr.cli.terminal",
    "torr.finishing.pipeline",
    "torr.report.files.csv",
    "torr.report.files.dat",
    "torr.report.files.flame_svg",
    "torr.report.files.html",
    "torr.report.files.markdown",
    "torr.report.files.png",
    "torr.report.files.step_summary",
    "torr.verdicts.capacity",
    "torr.verdicts.conclusions",
    "torr.verdicts.giving_up",
)


def _default(option: Option) -> str:
    return "" if option.default is None else f", else {option.default}"


@click.command(
    cls=Verb,
    examples=EXAMPLES,
    passed_on=[
        (
            f"{option.long} {option.reader.name}".strip(),
            f"{option.help} [{option.variable}{_default(option)}]",
        )
        for option in options_of(LocustOptions)
    ],
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
)
@click.argument("args", nargs=-1, type=click.UNPROCESSED, metavar="ARGS")
def locust(args: tuple[str, ...]) -> None:
    """Run Locust with its arguments and locustfiles on torr's client, and save a run."""
    require(
        find_spec("locust") is not None,
        "torr locust needs Locust: pip install 'torr[locust]'",
    )
    # gevent must patch before any module imports ssl.
    from torr.locust import install

    install()
    from gevent.hub import Hub
    from locust.main import main

    from torr.locust.run import LocustRecorder
    from torr.locust.shutdown import ShutdownHandler

    # Pass Ctrl-C on to Locust's main from any greenlet, without printing the greenlet's stack.
    Hub.NOT_ERROR = (*Hub.NOT_ERROR, KeyboardInterrupt)

    # Modules that are imported now stay until the end: exclude them from garbage collection.
    gc.freeze()
    shutdown = ShutdownHandler()
    recorder = LocustRecorder(args, shutdown, prepare, conclude)
    recorder.listen()
    sys.argv = ["locust", *args]
    try:
        main()
    except KeyboardInterrupt:
        raise InterruptedRunError(say("interrupted")) from None
    except SystemExit:
        if not shutdown.received_sighup:
            raise
    finally:
        recorder.finish()
    sys.exit(ExitCode.HUNG_UP if shutdown.received_sighup else ExitCode.FINE)


def prepare(is_registered: bool) -> None:
    """Import the modules of `conclude` before the load: Locust ends as soon as it returns."""
    for name in _NEEDED_AT_THE_END:
        import_module(name)
    if is_registered:
        from torr.store.runs.registration import prepare as prepare_store

        prepare_store()
    gc.freeze()


def conclude(outcome: Outcome, directory: RunDirectory, is_registered: bool) -> None:
    """Judge a test, register it if requested, print its verdict to stderr, and draw it.

    The drawing is last, so that a process that is stopped early loses it first.
    """
    from torr.finishing import pipeline
    from torr.options.result import ResultOptions
    from torr.verdicts.conclusions import of_load

    out = _screen()

    def show(finished: FinishedRun) -> None:
        show_notes(finished.notes)
        _print_verdict(finished.result, out)
        if finished.run_id is not None:
            echo_pair(say("stored"), say("as run {id}", id=finished.run_id), err=True)

    run = pipeline.EndedRun(
        directory,
        lambda: of_load("locust", directory.full_levels(), ()),
        outcome.status,
        is_drawn=False,
    )
    finished = pipeline.finish(run, ResultOptions(no_store=not is_registered), show)
    _, notes = pipeline.draw(run, finished.result)
    show_notes(notes)
    echo_pair(say("report"), str(directory.path / "report.html"), err=True)


def _screen() -> Screen:
    """Return a screen on stderr: stdout may hold the JSON of Locust."""
    from rich.console import Console

    from torr.cli.screen import Screen

    console = Console(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)
    return Screen(console, printed.language)


def _print_verdict(result: RunResult, out: Screen) -> None:
    """Print the verdict, and how far to trust it."""
    from torr.cli.terminal import COLOURS
    from torr.report.text import sentence, trust

    out.line()
    out.line(sentence.verdict(result), "bold")
    out.line(trust.trust(result), COLOURS.get(trust.health(result), ""))
