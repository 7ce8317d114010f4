"""Looks become rates, and what happened in a window; leaving some out loses nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import typed
from torr.monitor.process_tree import ProcessTreeSample
from torr.monitor.resource_samples import (
    ResourceSample,
    SampleHistory,
    growth_between,
    with_full_last_interval,
)
from torr.monitor.time_axis import TimeAxis
from torr.monitor.timeline import timeline
from torr.monitor.window_usage import window_usage
from torr.procfs.totals import Core, Interface, MachineTotals, Pressure

NOTHING = ProcessTreeSample(0.0, 1, 1, 1000, 0, 0)


def sample(at_s, *, busy=0, idle=0, cpu_s=0.0, lo=0, **more):
    target = replace(NOTHING, cpu_s=cpu_s, **more)
    flow = Interface(lo, lo // 100, lo, lo // 100)
    seen = MachineTotals({0: Core(idle, busy)}, {"lo": flow, "eth0": flow}, {"cpu": Pressure(lo)})
    return ResourceSample(100 + at_s, seen, NOTHING, target)


def test_rates_are_of_each_interval_from_its_beginning():
    samples = [
        sample(-1, idle=0, lo=0, busiest_s=0.0),
        sample(0, idle=50, busy=50, cpu_s=0.5, busiest_s=0.4, lo=1000),
        sample(2, idle=50, busy=250, cpu_s=2.5, busiest_s=1.4, lo=500),
    ]
    usage = timeline(samples, TimeAxis(100.0))
    assert (usage.t_s, usage.seconds) == ([-1.0, 0.0], [1.0, 2.0])
    assert usage.cores.busy_rate == [[50.0, 100.0]]
    assert usage.target.cpu_rate == [50.0, 100.0]
    assert usage.target.busiest_thread_rate == [40.0, 50.0]
    assert usage.network["lo"].bytes_in_per_s == [1000.0, None]
    assert usage.psi["cpu"].some_rate == [0.1, 0.0]
    assert usage.generator.cpu_rate == [0.0, 0.0]


def test_shares_stay_within_0_and_100_whatever_clocks_say():
    first = sample(0, idle=100, busy=5, busiest_s=1.0)
    samples = [first, sample(1, idle=90, busy=50, busiest_s=9.0)]
    usage = timeline(samples, TimeAxis(100.0))
    assert usage.cores.busy_rate == [[100.0]]
    assert usage.target.busiest_thread_rate == [100.0]


def test_a_core_that_went_offline_is_null_and_no_target_is_none():
    second = ResourceSample(101.0, MachineTotals({}, {}, {}), NOTHING)
    usage = timeline(
        [sample(0, idle=5), replace(sample(1, idle=9), target=None), second], TimeAxis(100.0)
    )
    assert usage.cores.busy_rate == [[0.0, None]]
    assert usage.target.cpu_rate == [None, None]
    assert timeline([second, second], TimeAxis(100.0)).target is None


def test_a_window_takes_its_part_of_each_interval():
    samples = [sample(0, cpu_s=0.0), sample(1, cpu_s=1.0), sample(3, cpu_s=2.0)]
    of = lambda each: each.target.cpu_s  # noqa: E731
    assert growth_between(samples, 100.5, 102.0, of) == pytest.approx(1.0)
    assert growth_between(samples, 99.0, 110.0, of) == pytest.approx(2.0)
    assert growth_between(samples, 102.0, 102.0, of) is None
    assert growth_between(samples[:1], 100.0, 102.0, of) is None


def test_of_too_many_looks_every_other_is_left_out_and_the_ends_stay():
    samples = SampleHistory[ResourceSample](most=8)
    for second in range(100):
        samples.add(sample(second, cpu_s=float(second)))
    assert len(samples.samples) <= 8
    assert (samples.samples[0].at_s, samples.samples[-1].at_s) == (100.0, 199.0)
    assert growth_between(samples.samples, 100.0, 199.0, lambda each: each.target.cpu_s) == 99.0


@pytest.mark.parametrize("most", [8, 9])
@given(count=st.integers(1, 300))
def test_each_part_of_the_time_has_as_many_samples(most, count):
    history = SampleHistory[int](most)
    for number in range(count):
        history.add(number)
    *kept, newest = history.samples
    assert newest == count - 1
    assert len(history.samples) <= most
    step = kept[1] - kept[0] if len(kept) > 1 else 1
    assert kept == list(range(0, newest, step))[: len(kept)]
    assert newest - (kept[-1] if kept else newest) <= step
    assert count <= most or len(kept) > most // 2 - 2


def test_a_last_interval_of_few_ticks_joins_the_one_before():
    samples = [sample(0), sample(1), sample(1.05, cpu_s=3.0)]
    usage = with_full_last_interval(samples, 0.2)
    assert [each.at_s for each in usage] == [100.0, 101.05]
    assert usage[-1].target.cpu_s == 3.0
    assert with_full_last_interval(samples, 0.01) == samples
    assert with_full_last_interval(samples[:2], 5.0) == samples[:2]


def level(**more):
    health = {"verdict": "healthy", "worker_cpu_rate": [30.0]}
    return typed.level(**{"seconds": 2.0, "ok_per_s": 500.0, "health": health, **more})


def test_what_a_request_costs_is_of_the_window_alone():
    samples = [
        sample(-1, idle=100),
        sample(0, cpu_s=5.0, idle=200),
        sample(2, cpu_s=6.0, idle=300, busy=100),
    ]
    usage = window_usage(samples, TimeAxis(100.0), level(), (0,))
    assert usage.target_cpu_rate == 50.0
    assert usage.target_cpu_us_per_request == 1000.0
    assert usage.requests_per_cpu_s == 1000.0
    assert usage.core_busy_rate == [50.0]
    assert (usage.limit, usage.target_rss_max_bytes) == ("neither", 1000)


def test_a_few_ticks_of_cpu_time_tell_nothing_of_a_request():
    few = window_usage([sample(0), sample(2, cpu_s=0.09)], TimeAxis(100.0), level(), (0,))
    assert (few.target_cpu_us_per_request, few.requests_per_cpu_s) == (None, None)
    assert few.target_cpu_rate == 4.5
    enough = window_usage([sample(0), sample(2, cpu_s=0.1)], TimeAxis(100.0), level(), (0,))
    assert enough.target_cpu_us_per_request == 100.0


def test_nothing_is_derived_of_a_window_that_answered_nothing():
    samples = [sample(0), sample(2)]
    usage = window_usage(samples, TimeAxis(100.0), level(ok_per_s=0.0), ())
    assert (usage.target_cpu_us_per_request, usage.requests_per_cpu_s) == (None, None)
    usage = window_usage(samples, TimeAxis(100.0), level(seconds=0.0), ())
    assert usage.target_cpu_rate is None
