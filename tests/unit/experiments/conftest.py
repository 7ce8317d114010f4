"""A context with a fake engine, whose files are real."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from doubles import FakeEngine
from torr.experiments.context import RunContext
from torr.experiments.interrupt import Interrupt
from torr.model.condition import Condition
from torr.model.pace import Closed
from torr.model.plan import Duration, Group, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.results.result import RunHead
from torr.store.rundir import RunDirectory
from torr.units import SECOND_NS


@dataclass
class Heard:
    """A listener that remembers."""

    events: list = field(default_factory=list)

    def level_started(self, step):
        self.events.append(("started", step.concurrency, step.round))

    def interval_came(self, step, piece):
        self.events.append(("interval", step.concurrency, piece.t_s))

    def level_ended(self, step, level):
        self.events.append(("ended", step.concurrency, level.ok_per_s))

    def trial_failed(self, failure):
        self.events.append(("failed", failure.candidate, failure.round))


@dataclass
class Bench:
    """Everything that a test of an experiment looks at."""

    engine: FakeEngine
    directory: RunDirectory
    heard: Heard
    interrupt: Interrupt

    def context(self, *abort_on):
        conditions = tuple(Condition.parse(text) for text in abort_on)
        return RunContext(self.directory, self.heard, self.interrupt, conditions, self.engine.start)


@pytest.fixture
def bench(tmp_path):
    with RunDirectory.create(tmp_path, "fake", RunHead(kind="run")) as directory:
        yield Bench(FakeEngine(), directory, Heard(), Interrupt())


@pytest.fixture
def plan():
    group = Group(pace=Closed(50), source=Source.of(Request("http://127.0.0.1:1/")))
    return Plan(groups=(group,), stop=Duration(10 * SECOND_NS))
