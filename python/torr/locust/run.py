"""Record every test of Locust, from its start to its stop, as a run.

Every process that sends load counts its requests. The master, or the only process, adds up the
counts and writes them to the run's directory. Callers pass the functions that judge, draw and print
a run.

"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import gevent
import locust
from locust.runners import STATE_MISSING, MasterRunner, WorkerRunner

from torr.errors import OutputError
from torr.locust import csv_files, json_output
from torr.locust.arguments import FLAGS, add_arguments, options_in
from torr.locust.head import addresses_of, run_head_of, warmup_s
from torr.locust.recorded_test import RecordedTest
from torr.locust.recorder import RequestRecorder
from torr.locust.reporting import receive_tallies, send_tallies
from torr.locust.safe_log import redact_logs
from torr.locust.shutdown import quit_once, wait_before_kill
from torr.locust.tallies import TallyAggregate
from torr.messages.message import Message, message_count
from torr.model.secrets import secrets_of_command
from torr.store.rundir import RunDirectory

if TYPE_CHECKING:
    from locust.env import Environment
    from locust.runners import Runner

    from torr.experiments.context import Outcome
    from torr.locust.shutdown import ShutdownHandler

Prepare = Callable[[bool], None]
"""Import the modules that `Conclude` uses; the argument tells whether the run is registered."""
Conclude = Callable[["Outcome", RunDirectory, bool], None]
"""Judge a test; the last argument tells whether the run is registered."""

LOCAL = "local"
# The interval of a worker's reports, and how long to wait for the last ones of workers that still
# send heartbeats.
_INTERVAL_S = 1.0
_LAST_REPORTS_S = 15.0
# A test that ends earlier than this was stopped by the user; Locust's timers fire early.
_EARLY_S = 1.0
_EARLY_SHARE = 0.1

log = logging.getLogger("torr.locust")


class LocustRecorder:
    """Records the tests of this process; `conclude` judges, draws and prints one that has ended."""

    def __init__(
        self,
        arguments: Sequence[str],
        shutdown: ShutdownHandler,
        prepare: Prepare,
        conclude: Conclude,
    ) -> None:
        self._arguments = tuple(arguments)
        self._shutdown = shutdown
        self._prepare = prepare
        self._conclude = conclude
        self._test_recorder: TestRecorder | None = None

    def listen(self) -> None:
        """Add torr's arguments, and listen to Locust's start; call this before Locust's main."""
        csv_files.patch_csv_writer()
        json_output.patch_json_writers()
        locust.events.init_command_line_parser.add_listener(add_arguments)
        locust.events.init.add_listener(self._on_init)

    def finish(self) -> None:
        """Conclude the last test, if Locust ended without doing so."""
        if self._test_recorder is not None:
            self._test_recorder.finish()

    def _on_init(self, environment: Environment, runner: Runner, **_more: object) -> None:
        redact_logs()
        self._shutdown.listen(environment)
        if isinstance(runner, MasterRunner):
            quit_once(runner)
        recorder = None if isinstance(runner, MasterRunner) else RequestRecorder(environment)
        if recorder is not None:
            recorder.listen()
        if isinstance(runner, WorkerRunner) and recorder is not None:
            send_tallies(environment, runner, recorder)
        elif options_in(environment.parsed_options).is_recorded:
            self._test_recorder = TestRecorder(
                environment, runner, recorder, self._arguments, self._conclude
            )
            self._test_recorder.listen()
            # Locust's process ends soon after its load.
            self._prepare(not options_in(environment.parsed_options).no_store)
        # Locust starts the timer of its run time next, from the hub's time, which was not updated
        # while Locust and the locustfile were imported: the run would be shorter by that much.
        gevent.get_hub().loop.update_now()


class TestRecorder:
    """Records tests as runs, in the master or in the only process."""

    def __init__(
        self,
        environment: Environment,
        runner: Runner,
        recorder: RequestRecorder | None,
        arguments: Sequence[str],
        conclude: Conclude,
    ) -> None:
        self._environment = environment
        self._runner = runner
        self._recorder = recorder
        self._arguments = arguments
        self._conclude = conclude
        self._test: RecordedTest | None = None
        # The reason why the running test is not recorded.
        self._open_error: OutputError | None = None
        self._poller: gevent.Greenlet | None = None
        self._started_s = 0.0
        self._is_stopped = False
        self._is_interrupted = False

    def listen(self) -> None:
        """Listen to the start and end of tests, and to the end of Locust."""
        events = self._environment.events
        events.test_start.add_listener(self.begin)
        events.spawning_complete.add_listener(self._count_users)
        events.test_stop.add_listener(self.end)
        events.quit.add_listener(self.finish)
        if isinstance(self._runner, MasterRunner):
            receive_tallies(self._environment, self._runner, self._add_report)
            wait_before_kill(self._runner, self._wait_for_last_reports)

    def begin(self, **_more: object) -> None:
        """Open the run of a new test; conclude the previous one first."""
        self.finish()
        # Locust has started its own clock already.
        self._started_s = time.monotonic()
        try:
            directory = self._directory()
        except OutputError as error:
            log.error("torr: this test is not recorded: %s", error)
            self._open_error = error
            if self._recorder is not None:
                self._recorder.end()
            return
        aggregate = TallyAggregate(
            addresses_of(self._environment),
            warmup_s=warmup_s(self._environment),
            is_master=self._recorder is None,
        )
        self._test = RecordedTest(directory, aggregate)
        self._expect_workers(self._test)
        self._is_stopped = self._is_interrupted = False
        self._poller = gevent.spawn(self._poll)

    def end(self, **_more: object) -> None:
        """Record that the test has stopped; only the last reports of workers may follow."""
        if self._test is None:
            return
        self._stop_polling()
        self._is_stopped = True
        self._is_interrupted = self._is_early()
        # Without its web page Locust ends now, and fires `quit`.
        if self._environment.web_ui is not None:
            gevent.spawn(self._finish_after_last_reports)

    def finish(self, **_more: object) -> None:
        """Store and conclude the test; if it is not recorded, log the reason again."""
        if self._open_error is not None:
            log.error("torr: this test was not recorded: %s", self._open_error)
            self._open_error = None
        if self._test is None:
            return
        # After a second Ctrl-C Locust ends without stopping the test.
        self._stop_polling()
        is_interrupted = self._is_interrupted or not self._is_stopped
        test, self._test = self._test, None
        outcome = test.finish(is_interrupted=is_interrupted, warnings=self._exception_warnings())
        if outcome is not None:
            # No other greenlet may run before Locust has ended: its main greenlet would end it
            # again.
            self._conclude_run(outcome, test)

    def _directory(self) -> RunDirectory:
        options = options_in(self._environment.parsed_options)
        head = run_head_of(self._environment, self._arguments)
        secrets = secrets_of_command(self._arguments)
        folder = Path(options.folder)
        return RunDirectory.create(folder, options.name, head, FLAGS, secrets=secrets)

    def _conclude_run(self, outcome: Outcome, test: RecordedTest) -> None:
        try:
            with test.directory:
                is_registered = not options_in(self._environment.parsed_options).no_store
                self._conclude(outcome, test.directory, is_registered)
        except OutputError as error:
            log.error("torr: %s", error)
        except KeyboardInterrupt:
            log.warning("torr: not drawn; what was measured is in %s", test.directory.path)

    def _finish_after_last_reports(self) -> None:
        test = self._test
        self._wait_for_last_reports()
        if test is self._test:
            self.finish()

    def _wait_for_last_reports(self) -> None:
        """Wait until every worker that is connected has sent its last report, or a time limit."""
        test = self._test
        with gevent.Timeout(_LAST_REPORTS_S, False):
            while test is not None and test is self._test and self._is_awaiting(test):
                gevent.sleep(0.05)

    def _is_awaiting(self, test: RecordedTest) -> bool:
        clients = getattr(self._runner, "clients", {})
        states = [clients[process].state for process in test.awaited if process in clients]
        return any(state != STATE_MISSING for state in states)

    def _poll(self) -> NoReturn:
        while True:
            gevent.sleep(_INTERVAL_S)
            self._count_users()
            self._add_local()

    def _add_report(self, process: str, tally: bytes | None, is_over: bool, users: int) -> None:
        if self._test is not None:
            self._test.add_report(process, tally, is_over=is_over, users=users)

    def _add_local(self) -> None:
        if self._test is not None and self._recorder is not None:
            intervals = self._test.aggregate.add_local(LOCAL, self._recorder.tally)
            self._test.keep_intervals(intervals)

    def _count_users(self, **_more: object) -> None:
        if self._test is not None:
            self._test.count_users(self._runner.user_count)

    def _expect_workers(self, test: RecordedTest) -> None:
        if isinstance(self._runner, MasterRunner):
            for process in self._runner.clients:
                test.expect(process)

    def _stop_polling(self) -> None:
        """Stop polling, and add the counts of this process."""
        if self._poller is not None:
            self._poller.kill(block=False)
            self._poller = None
        if self._recorder is not None and not self._is_stopped:
            # After the stop, the recorder may be counting the next test already.
            self._recorder.end()
        self._add_local()

    def _is_early(self) -> bool:
        run_time_s = float(getattr(self._environment.parsed_options, "run_time", None) or 0.0)
        tolerance_s = max(_EARLY_S, _EARLY_SHARE * run_time_s)
        return time.monotonic() - self._started_s < run_time_s - tolerance_s

    def _exception_warnings(self) -> list[Message]:
        """Return a warning about exceptions of tasks, which Locust counts apart from requests."""
        exceptions = self._runner.exceptions.values()
        count = sum(exception["count"] for exception in exceptions)
        if not count:
            return []
        first = max(exceptions, key=lambda exception: exception["count"])["msg"]
        return [
            message_count(
                "warning.task_exceptions",
                count,
                "tasks raised {n:,} exception: {first}",
                "tasks raised {n:,} exceptions, most often {first}",
                first=repr(first),
            )
        ]
