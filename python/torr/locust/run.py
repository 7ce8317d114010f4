"""What a test of Locust leaves behind: each, from its start to its stop, is a run of its own.

A process that fires keeps books; the one that leads (alone, or as the master) gathers them in the
run's directory. How a run is judged, drawn and said is handed in: that is for upper floors.
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
from torr.locust.bookkeeper import Bookkeeper
from torr.locust.ending import quit_once
from torr.locust.head import addresses_of, head_of, warmup_s
from torr.locust.kept_test import KeptTest
from torr.locust.ledger import Gathering
from torr.locust.reporting import send_sheets, take_sheets
from torr.locust.safe_log import redact_logs
from torr.model.secrets import secrets_of_command
from torr.store.rundir import RunDirectory

if TYPE_CHECKING:
    from locust.env import Environment
    from locust.runners import Runner

    from torr.experiments.lab import Outcome
    from torr.locust.ending import Ending

Prepare = Callable[[bool], None]
"""Imports what concluding a test needs; whether it is to be registered with the kept runs."""
Conclude = Callable[["Outcome", RunDirectory, bool], None]
"""Judges a test; whether it is to be registered with the kept runs comes last."""

LOCAL = "local"
# A second, and the time that a late report may take.
_EVERY_S = 1.0
_LAST_WORDS_S = 3.0
# A test that ends so much before its run time was ended by somebody; Locust's timers ring early.
_EARLY_S = 1.0
_EARLY_SHARE = 0.1

log = logging.getLogger("torr.locust")


class Keeper:
    """Keeps the tests of this process; `conclude` judges, draws and says one that has ended."""

    def __init__(
        self, arguments: Sequence[str], ending: Ending, prepare: Prepare, conclude: Conclude
    ) -> None:
        self._arguments = tuple(arguments)
        self._ending = ending
        self._prepare = prepare
        self._conclude = conclude
        self._leader: Leader | None = None

    def listen(self) -> None:
        """Add torr's arguments, and hear when Locust is ready; before its main is called."""
        csv_files.complete_at_the_end()
        locust.events.init_command_line_parser.add_listener(add_arguments)
        locust.events.init.add_listener(self._on_init)

    def finish(self) -> None:
        """Conclude a test that nobody concluded, however Locust ended."""
        if self._leader is not None:
            self._leader.finish()

    def _on_init(self, environment: Environment, runner: Runner, **_more: object) -> None:
        redact_logs()
        self._ending.listen(environment)
        if isinstance(runner, MasterRunner):
            quit_once(runner)
        books = None if isinstance(runner, MasterRunner) else Bookkeeper(environment)
        if books is not None:
            books.listen()
        if isinstance(runner, WorkerRunner) and books is not None:
            send_sheets(environment, runner, books)
        elif options_in(environment.parsed_options).is_kept:
            self._leader = Leader(environment, runner, books, self._arguments, self._conclude)
            self._leader.listen()
            if isinstance(runner, MasterRunner):
                # It fires no load itself, and keeps others waiting when it ends late.
                self._prepare(not options_in(environment.parsed_options).no_store)
        # Locust starts the timer of its run time next, from the hub's time, which stood still while
        # Locust and the locustfile were imported: the run would be shorter by that much.
        gevent.get_hub().loop.update_now()


class Leader:
    """Opens a run when a test starts, follows it, and concludes it."""

    def __init__(
        self,
        environment: Environment,
        runner: Runner,
        books: Bookkeeper | None,
        arguments: Sequence[str],
        conclude: Conclude,
    ) -> None:
        self._environment = environment
        self._runner = runner
        self._books = books
        self._arguments = arguments
        self._conclude = conclude
        self._test: KeptTest | None = None
        # Why the test that runs is not kept.
        self._refusal: OutputError | None = None
        self._follower: gevent.Greenlet | None = None
        self._began = 0.0
        self._is_stopped = False
        self._is_interrupted = False

    def listen(self) -> None:
        """Hear of tests that begin and end, and of Locust's own end."""
        events = self._environment.events
        events.test_start.add_listener(self.begin)
        events.spawning_complete.add_listener(self._count_users)
        events.test_stop.add_listener(self.end)
        events.quit.add_listener(self.finish)
        if isinstance(self._runner, MasterRunner):
            take_sheets(self._environment, self._runner, self._take)

    def begin(self, **_more: object) -> None:
        """Open the run of a new test; one that is not concluded yet is concluded first."""
        self.finish()
        # Locust's own clock runs already.
        self._began = time.monotonic()
        try:
            directory = self._directory()
        except OutputError as error:
            log.error("torr: this test is not kept: %s", error)
            self._refusal = error
            if self._books is not None:
                self._books.end()
            return
        gathering = Gathering(
            addresses_of(self._environment),
            warmup_s=warmup_s(self._environment),
            apart=self._books is None,
        )
        self._test = KeptTest(directory, gathering)
        self._expect_all(self._test)
        self._is_stopped = self._is_interrupted = False
        self._follower = gevent.spawn(self._follow)

    def end(self, **_more: object) -> None:
        """Note that the test has stopped: at once nothing more comes, or what workers say last."""
        if self._test is None:
            return
        self._hear_out()
        self._is_stopped = True
        self._is_interrupted = self._is_early()
        # Without the page Locust ends now, and says last what there is to say.
        if self._environment.web_ui is not None:
            gevent.spawn(self._finish_soon)

    def finish(self, **_more: object) -> None:
        """Keep and conclude the test, if there is one; say again why one is not kept."""
        if self._refusal is not None:
            log.error("torr: this test was not kept: %s", self._refusal)
            self._refusal = None
        if self._test is None:
            return
        # Twice Ctrl-C, and Locust ends without having stopped the test.
        self._hear_out()
        is_interrupted = self._is_interrupted or not self._is_stopped
        test, self._test = self._test, None
        outcome = test.finish(is_interrupted=is_interrupted, warnings=self._raised())
        if outcome is not None:
            # No other greenlet may run before Locust has ended: its main one would end it again.
            self._say(outcome, test)

    def _directory(self) -> RunDirectory:
        options = options_in(self._environment.parsed_options)
        head = head_of(self._environment, self._arguments)
        secrets = secrets_of_command(self._arguments)
        folder = Path(options.folder)
        return RunDirectory.create(folder, options.name, head, FLAGS, secrets=secrets)

    def _say(self, outcome: Outcome, test: KeptTest) -> None:
        try:
            with test.directory:
                is_asked = not options_in(self._environment.parsed_options).no_store
                self._conclude(outcome, test.directory, is_asked)
        except OutputError as error:
            log.error("torr: %s", error)
        except KeyboardInterrupt:
            log.warning("torr: not drawn; what was measured is in %s", test.directory.path)

    def _finish_soon(self) -> None:
        """Conclude when every worker has said its last, or is not going to."""
        test = self._test
        with gevent.Timeout(_LAST_WORDS_S, False):
            while test is not None and test is self._test and test.awaited:
                gevent.sleep(0.05)
        if test is self._test:
            self.finish()

    def _follow(self) -> NoReturn:
        while True:
            gevent.sleep(_EVERY_S)
            self._count_users()
            self._take_own()

    def _take(self, process: str, sheet: bytes | None, is_over: bool) -> None:
        if self._test is not None:
            self._test.take(process, sheet, is_over=is_over)

    def _take_own(self) -> None:
        if self._test is not None and self._books is not None:
            slices = self._test.gathering.take_from(LOCAL, self._books.ledger)
            self._test.keep(slices)

    def _count_users(self, **_more: object) -> None:
        if self._test is not None:
            self._test.count_users(self._runner.user_count)

    def _expect_all(self, test: KeptTest) -> None:
        if isinstance(self._runner, MasterRunner):
            for process in self._runner.clients:
                test.expect(process)

    def _hear_out(self) -> None:
        """Follow no longer, and take what this process still has."""
        if self._follower is not None:
            self._follower.kill(block=False)
            self._follower = None
        if self._books is not None and not self._is_stopped:
            # Stopped, the books of this test are closed, and may be those of the next one already.
            self._books.end()
        self._take_own()

    def _is_early(self) -> bool:
        asked = float(getattr(self._environment.parsed_options, "run_time", None) or 0.0)
        early = max(_EARLY_S, _EARLY_SHARE * asked)
        return time.monotonic() - self._began < asked - early

    def _raised(self) -> list[str]:
        """What tasks raised: Locust counts it apart from requests."""
        exceptions = self._runner.exceptions.values()
        count = sum(each["count"] for each in exceptions)
        if not count:
            return []
        first = max(exceptions, key=lambda each: each["count"])["msg"]
        return [f"tasks raised {count:,} exceptions, most often {first!r}"]
