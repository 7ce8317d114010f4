"""Profiles after a comparison: of which servers, and what follows when there is none."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

import typed
from doubles import Truth, measured_level
from torr.errors import NothingMeasuredError, OutputError
from torr.experiments import profile_recording, server_profiles, trial
from torr.experiments.context import MeasuredLevel, Outcome, RunContext
from torr.experiments.interrupt import Interrupt
from torr.experiments.matrix import Matrix
from torr.experiments.server_lifetime import ServerPerCell
from torr.experiments.server_profiles import ServerProfiles
from torr.experiments.trial import ComparisonState
from torr.messages.message import Message
from torr.model.pace import Closed
from torr.model.plan import Duration, Group, Plan
from torr.model.profiling import ProfileRequest
from torr.model.request import Request
from torr.model.source import Source
from torr.profile.stacks import Stacks
from torr.results.result import RunHead
from torr.servers.command import Command
from torr.servers.expectation import Expectation
from torr.servers.failure import TrialError
from torr.sources.matrix_file import Candidate
from torr.store.rundir import RunDirectory
from torr.units import SECOND_NS
from torr.verdicts.comparison import Procedure

CELLS = ({"n": 1}, {"n": 2})
LEVEL = typed.changed(measured_level(10, Truth()), candidate="a", factors={"n": 1})


def plan_of(_candidate, _factors, url, _round=0):
    group = Group(pace=Closed(10), source=Source.of(Request(url)))
    return Plan(groups=(group,), stop=Duration(SECOND_NS), warmup_ns=0)


class Looks:
    """A profiler that sees which server it looks at."""

    tool, kind = "looks", "cpu"

    def __init__(self, whose):
        self.whose = whose

    def check(self):
        pass

    def take(self, seconds):
        return Stacks({(self.whose,): seconds}, "samples")

    def stop(self):
        pass

    def is_gone(self):
        return False


class Bench:
    """A comparison whose servers are kept up through their cell; nothing is started."""

    def __init__(self, monkeypatch, directory):
        self.log = []
        self.context = RunContext(directory, interrupt=Interrupt())
        self.state = ComparisonState(4, servers=ServerPerCell())
        self.check = lambda: None
        monkeypatch.setattr(trial, "_ready_server", self._ready_server)
        monkeypatch.setattr(trial, "warm_up", lambda *_: None)
        monkeypatch.setattr(trial, "measure", lambda _step, _context: self.measured())
        # A profile that takes no time is short, as that of a server that ended: none does here.
        monkeypatch.setattr(profile_recording, "_GONE_WITHIN_S", 0.0)
        monkeypatch.setattr(
            server_profiles, "profiler_of", lambda _asked, pids: Looks(self.log[pids[0]])
        )

    def run(self):
        names = ("a", "b")
        command = Command(("serve",), "http://127.0.0.1:{port}/")
        candidates = [Candidate(name, command, Expectation(), {}, 1) for name in names]
        matrix = Matrix(candidates, CELLS, (1,), plan_of, "a", Procedure())
        profiles = ServerProfiles.of(ProfileRequest(), matrix, 10)
        comparison = Outcome((LEVEL,))
        self.outcome = profiles.run_after(lambda: comparison, matrix, self.context, self.state)
        return self.context.directory.profiles

    def measured(self):
        return MeasuredLevel(LEVEL)

    @contextmanager
    def _ready_server(self, trial, *_):
        whose = f"{trial.candidate.name}{trial.factors['n']}"
        self.log.append(whose)
        command = SimpleNamespace(url="http://127.0.0.1:1/", port=1)
        at = len(self.log) - 1
        yield SimpleNamespace(command=command, pids=lambda: [at], check=self.check)
        self.log.append(f"{whose} stopped")


@pytest.fixture
def bench(monkeypatch, tmp_path):
    with RunDirectory.create(tmp_path, "matrix", RunHead(kind="compare")) as directory:
        yield Bench(monkeypatch, directory)


def test_each_profile_is_of_a_server_of_its_own_where_servers_are_kept_up_too(bench):
    found = bench.run()
    seen = [(each.candidate, each.factors, each.folded) for each in found]
    assert seen == [
        *(("a", {"n": 1}, "a1 2\n"), ("b", {"n": 1}, "b1 2\n")),
        *(("a", {"n": 2}, "a2 2\n"), ("b", {"n": 2}, "b2 2\n")),
    ]
    whose = ("a1", "b1", "a2", "b2")
    assert bench.log == [word for each in whose for word in (each, f"{each} stopped")]
    assert bench.state.servers.running() == []
    assert bench.outcome.status == "complete"


def test_an_interrupt_of_the_profiles_is_one_of_the_comparison(bench):
    def interrupted():
        bench.context.interrupt.press()
        return MeasuredLevel(LEVEL)

    bench.measured = interrupted
    assert len(bench.run()) == 1
    assert (bench.outcome.status, bench.outcome.levels) == ("interrupted", (LEVEL,))


def test_a_load_that_cannot_be_fired_costs_its_profile_alone(bench):
    def refused():
        raise NothingMeasuredError("a is an unknown host")

    bench.measured = refused
    assert [each.failure for each in bench.run()] == 4 * ["a is an unknown host"]


@pytest.mark.parametrize(
    ("kind", "cost", "text"),
    [
        ("died", None, "it ended by itself: exit code 3"),
        ("did_not_stop", 0.0, "it had to be killed"),
    ],
)
def test_what_becomes_of_a_server_behind_its_load_is_noted(bench, kind, cost, text):
    checks = []

    def ends():
        checks.append("before its load" if len(checks) % 2 == 0 else "behind it")
        if checks[-1] == "behind it":
            raise TrialError(kind, "a", Message(text))

    bench.check = ends
    first = bench.run()[0]
    assert (first.folded, first.failure) == ("a1 2\n", None)
    assert (first.cost_rate, first.note) == (cost, f"a: {text}")


def test_where_nothing_can_be_kept_the_comparison_ends(bench):
    def refused():
        raise OutputError("the disk is full")

    bench.measured = refused
    with pytest.raises(OutputError, match="is full"):
        bench.run()
