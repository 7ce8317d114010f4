"""Where a profile is taken, and what it is said to cost."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

import typed
from doubles import Truth, measured_level
from torr.errors import NothingMeasuredError, OutputError, PlanError, UsageError
from torr.experiments import profiling
from torr.experiments.context import MeasuredLevel, Outcome, RunContext
from torr.experiments.interrupt import Interrupt
from torr.experiments.profile_recording import ProfileRecording, plan_for_profile
from torr.experiments.profiling import ProfileSettings, profiled
from torr.model.pace import Closed
from torr.model.plan import Count, Duration, Group, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.profile.stacks import Stacks
from torr.results.result import RunHead
from torr.store.rundir import RunDirectory
from torr.units import SECOND_NS


class Looks:
    """A profiler that sees one stack."""

    tool, kind = "looks", "cpu"

    def check(self):
        pass

    def take(self, seconds):
        return Stacks({("main", "work"): seconds}, "samples")

    def stop(self):
        pass

    def is_gone(self):
        return False


@pytest.fixture(autouse=True)
def no_patience(monkeypatch):
    """None that looks here takes its time, and few of their targets end."""
    monkeypatch.setattr("torr.experiments.profile_recording._GONE_WITHIN_S", 0.0)


@pytest.fixture
def plan():
    group = Group(pace=Closed(10), source=Source.of(Request("http://127.0.0.1/")))
    return Plan(groups=(group,), stop=Duration(SECOND_NS), warmup_ns=0)


@pytest.fixture
def taken(monkeypatch, tmp_path, plan):
    """The profile behind some levels, taken beside a load that comes to `level`."""

    def made(levels, level, at=None):
        monkeypatch.setattr(profiling, "measure", lambda _step, _context: MeasuredLevel(level))
        with RunDirectory.create(tmp_path, "api", RunHead(kind="ladder")) as directory:
            context = RunContext(directory, interrupt=Interrupt())
            profiled(lambda _context: Outcome(tuple(levels)), plan, ProfileSettings(Looks(), at))(
                context
            )
            return directory.profiles

    return made


def limited(level):
    return typed.changed(level, health={"verdict": "generator-limited"})


def test_it_is_taken_at_the_best_level_that_the_generator_did_not_limit(taken):
    levels = [
        measured_level(10, Truth(ok_per_s=100.0)),
        measured_level(20, Truth(ok_per_s=150.0)),
        limited(measured_level(40, Truth(ok_per_s=180.0))),
    ]
    (found,) = taken(levels, measured_level(20, Truth(ok_per_s=120.0)))
    assert (found.concurrency, found.tool, found.folded) == (20, "looks", "main;work 2\n")
    assert found.cost_rate == pytest.approx(20)


def test_where_nothing_was_measured_at_that_level_the_cost_is_not_known(taken):
    (found,) = taken(
        [measured_level(10, Truth())], measured_level(30, Truth(ok_per_s=120.0)), at=30
    )
    assert (found.ok_per_s, found.cost_rate) == (120.0, None)


def test_a_trial_that_was_cut_short_costs_nobody_knows_what(taken):
    cut = measured_level(10, Truth(ok_per_s=20.0), cut_short=True)
    (found,) = taken([measured_level(10, Truth(ok_per_s=100.0))], cut)
    assert (found.ok_per_s, found.cost_rate) == (None, None)


@pytest.fixture
def refused(monkeypatch, tmp_path, plan):
    """The profiles of a run whose last load is refused with an error."""

    def made(error):
        def refuses(_step, _context):
            raise error

        monkeypatch.setattr(profiling, "measure", refuses)
        levels = (measured_level(10, Truth()),)
        with RunDirectory.create(tmp_path, "api", RunHead(kind="ladder")) as directory:
            context = RunContext(directory, interrupt=Interrupt())
            outcome = profiled(
                lambda _context: Outcome(levels), plan, ProfileSettings(Looks(), 30)
            )(context)
            assert outcome.levels == levels
            return directory.profiles

    return made


@pytest.mark.parametrize("kind", [PlanError, NothingMeasuredError])
def test_a_load_that_cannot_be_fired_costs_the_profile_alone(refused, kind):
    (found,) = refused(kind("30 users need more files than may be open", "ulimit -n"))
    assert (found.failure, found.hint) == (
        "30 users need more files than may be open",
        "ulimit -n",
    )
    assert (found.concurrency, found.ok_per_s, found.folded) == (30, None, None)


def test_where_nothing_can_be_kept_the_run_ends(refused):
    with pytest.raises(OutputError, match="disk full"):
        refused(OutputError("disk full"))


def test_behind_nothing_there_is_no_profile(taken):
    assert taken([], measured_level(10, Truth())) == []


def test_a_profiler_needs_a_while(plan):
    assert plan_for_profile(plan).stop == Duration(2 * SECOND_NS)
    assert plan_for_profile(replace(plan, stop=Count(5))).stop == Duration(10 * SECOND_NS)
    assert plan_for_profile(replace(plan, stop=Duration(60 * SECOND_NS))).stop.duration_ns == (
        60 * SECOND_NS
    )


class Endless(Looks):
    """A profiler that looks until it is stopped."""

    def __init__(self):
        self.looks = threading.Event()
        self.stopped = threading.Event()

    def take(self, seconds):
        self.looks.set()
        assert self.stopped.wait(60)
        raise UsageError(f"it was stopped within {seconds} s")

    def stop(self):
        self.stopped.set()

    def is_gone(self):
        return True


def test_none_goes_on_behind_a_load_that_was_refused(plan):
    profiler = Endless()

    def refused():
        profiler.looks.wait(60)
        raise PlanError("an unknown host")

    with pytest.raises(PlanError):
        ProfileRecording(profiler, plan).run_with(refused, Interrupt())
    assert profiler.stopped.is_set()


def test_none_begins_behind_a_load_that_was_refused_in_its_warm_up(plan):
    profiler = Endless()

    def refused():
        raise PlanError("an unknown host")

    with pytest.raises(PlanError):
        ProfileRecording(profiler, replace(plan, warmup_ns=3600 * SECOND_NS)).run_with(
            refused, Interrupt()
        )
    assert not [each for each in threading.enumerate() if each.name == "torr-profile"]
    assert not profiler.looks.is_set()


def test_ctrl_c_stops_the_profiler_and_says_no_more_of_it(plan):
    profiler, interrupt = Endless(), Interrupt()
    level = measured_level(10, Truth())

    def load():
        profiler.looks.wait(60)
        interrupt.press()
        return level

    taking = ProfileRecording(profiler, plan)
    assert taking.run_with(load, interrupt) is level
    assert profiler.stopped.is_set()
    found = taking.profile(level, [])
    # Ctrl-C in a terminal ends a target there, too.
    assert (found.failure, found.note) == ("interrupted", None)


class Dies(Looks):
    """A profiler whose target ends while it looks: it has seen something of it, or nothing."""

    def __init__(self, error=None):
        self.error = error

    def take(self, seconds):
        if self.error is not None:
            raise self.error
        return super().take(seconds)

    def is_gone(self):
        return True


def of_a_target_that_dies(plan, error=None):
    taking = ProfileRecording(Dies(error), plan)
    level = taking.run_with(lambda: measured_level(10, Truth(ok_per_s=20.0)), Interrupt())
    return taking.profile(level, [measured_level(10, Truth(ok_per_s=100.0))])


def test_of_a_target_that_ends_in_mid_profile_the_stacks_are_kept_and_no_cost_is_told(plan):
    found = of_a_target_that_dies(plan)
    assert (found.folded, found.failure) == ("main;work 1\n", None)
    assert (found.ok_per_s, found.cost_rate) == (20.0, None)
    assert found.note == "the target ended during the profile"


def test_where_nothing_is_seen_of_a_target_that_ends_both_are_said(plan):
    found = of_a_target_that_dies(plan, UsageError("pprof: Connection reset by peer"))
    assert found.failure == "pprof: Connection reset by peer"
    assert (found.cost_rate, found.note) == (None, "the target ended during the profile")


def test_a_target_whose_end_the_profiler_sees_first_is_waited_for(monkeypatch, plan):
    class EndsSoon(Looks):
        looks = 0

        def is_gone(self):
            self.looks += 1
            return self.looks == 3

    monkeypatch.setattr("torr.experiments.profile_recording._GONE_WITHIN_S", 60.0)
    taken = ProfileRecording(EndsSoon(), plan)
    level = taken.run_with(lambda: measured_level(10, Truth()), Interrupt())
    assert taken.profile(level, []).note == "the target ended during the profile"


def test_a_profiler_that_breaks_costs_the_profile_alone(plan):
    class Breaks(Looks):
        def take(self, seconds):
            raise ValueError(f"{seconds} s are too few")

    taking = ProfileRecording(Breaks(), plan)
    level = taking.run_with(lambda: measured_level(10, Truth()), Interrupt())
    found = taking.profile(level, [])
    assert found.failure == "the profiler broke: ValueError: 1 s are too few"
    assert (found.cost_rate, found.note) == (None, None)
