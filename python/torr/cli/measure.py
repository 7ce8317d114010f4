"""Measure a prepared run from the command line, with live page, signals and progress.

Until the load is over nothing heavy is imported: no numpy, scipy or matplotlib, and rich only for
the live view of a terminal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.cli.live import live_page, open_server_socket
from torr.cli.live_view import progress_for
from torr.cli.one_status import OneStatus
from torr.cli.signals import interrupted_by_signals
from torr.cli.streams import show_notes
from torr.errors import OutputError
from torr.experiments.context import ListenerGroup
from torr.experiments.interrupt import Interrupt

if TYPE_CHECKING:
    from torr.options.result import ResultOptions
    from torr.options.server_trials import ServerTrialOptions
    from torr.planning.prepared import PreparedRun


def measure(prepared: PreparedRun, options: ResultOptions | ServerTrialOptions) -> None:
    """Measure, judge and print a run; raise the error that the process ends with, if any."""
    show_notes(prepared.notes)
    interrupt = Interrupt()
    with (
        open_server_socket(options) as server_socket,
        prepared.open() as directory,
        interrupted_by_signals(interrupt),
        live_page(server_socket, directory, interrupt, prepared.judge, options) as pages,
    ):
        try:
            with progress_for(options) as progress:
                one_status = OneStatus(
                    options.language or "en", progress.clear, prepared.is_of_http
                )
                listeners = ListenerGroup((one_status, progress, *pages))
                outcome = prepared.measure(directory, listeners, interrupt)
            from torr.cli.finish import finish_command
            from torr.finishing.pipeline import EndedRun

            finish_command(EndedRun.of(prepared, outcome, directory), options)
        except OutputError:
            if directory.is_removed and directory.levels:
                from torr.cli.finish import print_unsaved

                print_unsaved(prepared.unsaved_result(directory), options)
            raise
