"""Profiles of functions: what lies below torr's own loop, and what becomes of one that fails."""

from __future__ import annotations

import threading
from statistics import median

import pytest

from torr.errors import UsageError
from torr.micro import profiling
from torr.micro.measuring import measure
from torr.micro.profiling import Profiling, below_loops
from torr.micro.subject import Subject
from torr.profile import pyspy
from torr.profile.stacks import Stacks


def inner():
    return sum(range(3_000))


def outer():
    return inner() + len(bytearray(100_000))


N = 50


@pytest.fixture
def measured():
    return measure(Subject(outer), N, 3)


def test_what_is_seen_lies_below_the_loop():
    weights = {
        ("process 1", "pytest (a.py:1)", "single (torr/micro/loops.py:27)", "f (b.py:2)"): 3,
        ("process 1", "awaited (torr/micro/loops.py:90)", "g (b.py:9)", "f (b.py:2)"): 2,
        ("process 1", "single (torr/micro/loops.py:27)"): 5,
        ("process 1", "elsewhere (c.py:1)"): 7,
    }
    found = below_loops(Stacks(weights, "samples"))
    assert found.weights == {("f (b.py:2)",): 3, ("g (b.py:9)", "f (b.py:2)"): 2}
    with pytest.raises(UsageError, match="saw nothing within the function"):
        below_loops(Stacks({("single (torr/micro/loops.py:27)",): 5}, "samples"))


@pytest.mark.full
def test_time_is_that_of_the_function_and_of_what_it_calls():
    # So many that the rounds' collections of garbage, of all that pytest holds, do not hide them.
    measured = measure(Subject(outer), 2_000, 3)
    found = Profiling("cpu").of(Subject(outer), 2_000, measured)
    assert found.failure is None, str(found.failure)
    assert (found.tool, found.unit) == ("py-spy", "samples")
    tops = Stacks.folded(found.folded).top()
    caller, called = (
        next(row for row in tops if row.name.startswith(name)) for name in ("outer (", "inner (")
    )
    assert caller.total >= called.total
    usual = median(one.ok_per_s for one in measured.rounds)
    assert found.ok_per_s > 0
    assert found.cost_rate == pytest.approx(100 * (1 - found.ok_per_s / usual))


def test_a_profiler_that_breaks_costs_the_profile_alone(measured, monkeypatch):
    def broken(_self, _seconds):
        raise ValueError("it broke")

    monkeypatch.setattr(profiling.PySpy, "take", broken)
    found = Profiling("cpu").of(Subject(outer), N, measured)
    assert found.failure == "the profiler broke: ValueError: it broke"


def test_no_profiler_goes_on_behind_a_function_that_ends_the_tests(measured, monkeypatch):
    stopped = threading.Event()
    monkeypatch.setattr(profiling.PySpy, "take", lambda _self, _seconds: stopped.wait(60))
    monkeypatch.setattr(profiling.PySpy, "stop", lambda _self: stopped.set())

    def ends():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Profiling("cpu").of(Subject(ends), N, measured)
    assert stopped.is_set()


@pytest.mark.full
def test_memory_is_that_of_the_function(measured):
    found = Profiling("memory").of(Subject(outer), N, measured)
    assert (found.tool, found.unit, found.failure) == ("memray", "bytes", None)
    top = Stacks.folded(found.folded).top()[0]
    assert top.name.startswith("outer (test_profiling.py:")
    assert top.total >= 100_000


@pytest.mark.parametrize(("functions", "code"), [((), "return inner()"), ((inner,), "sum(range")])
def test_lines_are_those_of_the_function_or_of_the_named_ones(measured, functions, code):
    found = Profiling("lines").of(Subject(outer), N, measured, functions)
    (line,) = found.lines
    assert code in line.code
    assert line.hits == N


def test_a_profile_that_fails_costs_itself_alone(measured):
    found = Profiling("lines").of(Subject(len, inputs=[""] * N), N, measured)
    assert "has no lines" in found.failure
    assert found.lines == []


def test_a_profiler_that_is_missing_is_said_before_anything_runs(monkeypatch):
    monkeypatch.setattr(profiling.memory, "find_spec", lambda _name: None)
    with pytest.raises(UsageError, match="--torr-profile memory needs memray"):
        Profiling("memory")
    monkeypatch.setattr(pyspy, "program_path", lambda _name: "/nowhere/py-spy")
    with pytest.raises(UsageError, match="--torr-profile needs py-spy"):
        Profiling("cpu")
