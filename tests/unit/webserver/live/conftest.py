"""A run whose live page is served on loopback; the test plays its experiment."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from tempfile import TemporaryFile

import pytest

from doubles import Truth, measured_interval, measured_level
from torr.experiments.context import Step
from torr.experiments.interrupt import Interrupt
from torr.model.pace import Closed
from torr.model.plan import Duration, Group, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.results.result import RunHead
from torr.store.rundir import RunDirectory
from torr.units import SECOND_NS
from torr.verdicts.conclusions import of_load
from torr.webserver.live.live import LivePage, LiveRun
from torr.webserver.server import ServerSocket


def step(index=0, users=2, round_number=1, **settings):
    group = Group(pace=Closed(users), source=Source.of(Request("http://127.0.0.1/")))
    plan = Plan(groups=(group,), stop=Duration(10 * SECOND_NS))
    return Step(index, plan, round_number, 3, **settings)


@dataclass
class Played:
    """A run that the test plays, as `experiments/level.py` would."""

    page: LivePage
    directory: RunDirectory
    interrupt: Interrupt
    complaints: list[str]

    @property
    def url(self):
        return self.page.url

    def begin(self, index=0):
        self.page.feed.level_started(step(index))

    def slice(self, second, index=0, truth=None, **settings):
        of = step(index, **settings)
        histograms = {"service": "AAAA" * 100}
        piece = measured_interval(truth or Truth(), second, histograms=histograms)
        if of.is_saved:
            self.directory.keep_interval(piece)
        self.page.feed.interval_came(of, piece)

    def finish(self, index=0, truth=None):
        level = measured_level(2 + index, truth or Truth())
        self.directory.keep_level(level)
        self.page.feed.level_ended(step(index), level)

    def end(self):
        self.directory.close("complete", of_load("ladder", self.directory.full_levels(), ()))
        self.page.end()


@pytest.fixture
def played(tmp_path):
    """Start a page for a run of its own."""
    with ExitStack() as stack:

        def start(name="api"):
            head = RunHead(kind="ladder", command=["torr", "ladder"])
            directory = stack.enter_context(RunDirectory.create(tmp_path, name, head))
            server_socket = ServerSocket("127.0.0.1", 0)
            stack.callback(server_socket.socket.close)
            file = stack.enter_context(TemporaryFile(dir=directory.path))
            complaints = []

            def judge(levels):
                return of_load("ladder", levels, ())

            interrupt = Interrupt()
            page = LivePage(
                LiveRun(directory, interrupt, judge, complaints.append), server_socket, file
            )
            page.start()
            stack.callback(page.close)
            return Played(page, directory, interrupt, complaints)

        yield start
