"""Record every test of Locust, from its start to its stop, as a run.

Every process that fires counts its requests. The leading process (a single one, or the master) adds
them up in the run's directory. Upper floors pass in the functions that judge, draw and print a run.

"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import gevent
import locust
from locust.runners import MasterRunner, WorkerRunner

from torr.errors import OutputError
from torr.locust import csv_files
from torr.locust.arguments import FLAGS, add_arguments, options_in
from torr.locust.ending import quit_once
from torr.locust.head import addresses_of, head_of, warmup_s
from torr.locust.kept_test import KeptTest
from torr.locust.ledger import Gathering
from torr.locust.recorder import RequestRecorder
from torr.locust.reporting import receive_tallies, send_tallies
from torr.locust.safe_log import redact_logs
from torr.messages.message import Message, message_count
from torr.model.secrets import secrets_of_command
from torr.store.rundir import RunDirectory

if TYPE_CHECKING:
    from locust.env import Environment
    from locust.runners import Runner

    from torr.experiments.context import Outcome
    from torr.locust.ending import Ending

Prepare = Callable[[bool], None]
"""Import what concluding a test needs; the argument tells whether the run is to be registered."""
Conclude = Callable[["Outcome", RunDirectory, bool], None]
"""Judge a test; the last argument tells whether the run is to be registered."""

LOCAL = "local"
# The interval of a worker's reports, and how long to wait for the last ones.
_INTERVAL_S = 1.0
_LAST_REPORTS_S = 3.0
# A test that ends earlier than this was ended by hand; Locust's timers fire early.
_EARLY_S = 1.0
_EARLY_SHARE = 0.1

log = logging.getLogger("torr.locust")


class Keeper:
    """Records the tests of this process; `conclude` judges, draws and prints one that has ended."""

    def __init__(
        self, arguments: Sequence[str], ending: Ending, prepare: Prepare, conclude: Conclude
    ) -> None:
        self._arguments = tuple(arguments)
        self._ending = ending
        self._prepare = prepare
        self._conclude = conclude
        self._leader: Leader | None = None

    def listen(self) -> None:
        """Add torr's arguments, and listen to Locust's start; call this before Locust's main."""
        csv_files.complete_at_the_end()
        locust.events.init_command_line_parser.add_listener(add_arguments)
        locust.events.init.add_listener(self._on_init)

    def finish(self) -> None:
        """Conclude a test that is not concluded yet, however Locust ended."""
        if self._leader is not None:
            self._leader.finish()

    def _on_init(self, environment: Environment, runner: Runner, **_more: object) -> None:
        redact_logs()
        self._ending.listen(environment)
        if isinstance(runner, MasterRunner):
            quit_once(runner)
        recorder = None if isinstance(runner, MasterRunner) else RequestRecorder(environment)
        if recorder is not None:
            recorder.listen()
        if isinstance(runner, WorkerRunner) and recorder is not None:
            send_tallies(environment, runner, recorder)
        elif options_in(environment.parsed_options).is_kept:
            self._leader = Leader(environment, runner, recorder, self._arguments, self._conclude)
            self._leader.listen()
            if isinstance(runner, MasterRunner):
                # The master fires no load itself, and delays the workers if it ends late.
                self._prepare(not options_in(environment.parsed_options).no_store)
        # Locust starts the timer of its run time next, from the hub's time, which was not updated
        # while Locust and the locustfile were imported: the run would be shorter by that much.
        gevent.get_hub().loop.update_now()


class Leader:
    """Opens a run when a test starts, follows it, and concludes it."""

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
        self._test: KeptTest | None = None
        # The reason why the running test is not kept.
        self._refusal: OutputError | None = None
        self._follower: gevent.Greenlet | None = None
        self._began = 0.0
        self._is_stopped = False
        self._is_interrupted = False

    def listen(self) -> None:
        """Listen to tests that begin and end, and to Locust's own end."""
        events = self._environment.events
        events.test_start.add_listener(self.begin)
        events.spawning_complete.add_listener(self._count_users)
        events.test_stop.add_listener(self.end)
        events.quit.add_listener(self.finish)
        if isinstance(self._runner, MasterRunner):
            receive_tallies(self._environment, self._runner, self._take)

    def begin(self, **_more: object) -> None:
        """Open the run of a new test; conclude the previous one first."""
        self.finish()
        # Locust's own clock is running already.
        self._began = time.monotonic()
        try:
            directory = self._directory()
        except OutputError as error:
            log.error("torr: this test is not kept: %s", error)
            self._refusal = error
            if self._recorder is not None:
                self._recorder.end()
            return
        aggregate = Gathering(
            addresses_of(self._environment),
            warmup_s=warmup_s(self._environment),
            apart=self._recorder is None,
        )
        self._test = KeptTest(directory, aggregate)
        self._expect_all(self._test)
        self._is_stopped = self._is_interrupted = False
        self._follower = gevent.spawn(self._follow)

    def end(self, **_more: object) -> None:
        """Record that the test has stopped; nothing follows but the last reports of workers."""
        if self._test is None:
            return
        self._stop_following()
        self._is_stopped = True
        self._is_interrupted = self._is_early()
        # Without its web page Locust ends now, and fires `quit`.
        if self._environment.web_ui is not None:
            gevent.spawn(self._finish_soon)

    def finish(self, **_more: object) -> None:
        """Keep and conclude the test, if there is one; log again why one is not kept."""
        if self._refusal is not None:
            log.error("torr: this test was not kept: %s", self._refusal)
            self._refusal = None
        if self._test is None:
            return
        # After a second Ctrl-C Locust ends without stopping the test.
        self._stop_following()
        is_interrupted = self._is_interrupted or not self._is_stopped
        test, self._test = self._test, None
        outcome = test.finish(is_interrupted=is_interrupted, warnings=self._exception_warnings())
        if outcome is not None:
            # No other greenlet may run before Locust has ended: its main greenlet would end it
            # again.
            self._conclude_run(outcome, test)

    def _directory(self) -> RunDirectory:
        options = options_in(self._environment.parsed_options)
        head = head_of(self._environment, self._arguments)
        secrets = secrets_of_command(self._arguments)
        folder = Path(options.folder)
        return RunDirectory.create(folder, options.name, head, FLAGS, secrets=secrets)

    def _conclude_run(self, outcome: Outcome, test: KeptTest) -> None:
        try:
            with test.directory:
                is_registered = not options_in(self._environment.parsed_options).no_store
                self._conclude(outcome, test.directory, is_registered)
        except OutputError as error:
            log.error("torr: %s", error)
        except KeyboardInterrupt:
            log.warning("torr: not drawn; what was measured is in %s", test.directory.path)

    def _finish_soon(self) -> None:
        """Conclude when the last report of every worker has come, or its time is up."""
        test = self._test
        with gevent.Timeout(_LAST_REPORTS_S, False):
            while test is not None and test is self._test and test.awaited:
                gevent.sleep(0.05)
        if test is self._test:
            self.finish()

    def _follow(self) -> NoReturn:
        while True:
            gevent.sleep(_INTERVAL_S)
            self._count_users()
            self._take_local()

    def _take(self, process: str, tally: bytes | None, is_over: bool) -> None:
        if self._test is not None:
            self._test.take(process, tally, is_over=is_over)

    def _take_local(self) -> None:
        if self._test is not None and self._recorder is not None:
            intervals = self._test.aggregate.take_from(LOCAL, self._recorder.ledger)
            self._test.keep(intervals)

    def _count_users(self, **_more: object) -> None:
        if self._test is not None:
            self._test.count_users(self._runner.user_count)

    def _expect_all(self, test: KeptTest) -> None:
        if isinstance(self._runner, MasterRunner):
            for process in self._runner.clients:
                test.expect(process)

    def _stop_following(self) -> None:
        """Stop following, and take what this process has counted."""
        if self._follower is not None:
            self._follower.kill(block=False)
            self._follower = None
        if self._recorder is not None and not self._is_stopped:
            # After the stop, the recorder may be counting the next test already.
            self._recorder.end()
        self._take_local()

    def _is_early(self) -> bool:
        run_time_s = float(getattr(self._environment.parsed_options, "run_time", None) or 0.0)
        tolerance_s = max(_EARLY_S, _EARLY_SHARE * run_time_s)
        return time.monotonic() - self._began < run_time_s - tolerance_s

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
