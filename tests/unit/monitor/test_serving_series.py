"""Readings of LLM servers and GPUs over time: rates, means of histograms, and restarts."""

from __future__ import annotations

import pytest

from torr.monitor.readings import Reading
from torr.monitor.serving_series import growth, serving_series
from torr.monitor.serving_source import ServingReadings
from torr.monitor.time_axis import TimeAxis


def series(*readings, zero_s=100.0):
    return serving_series(ServingReadings("vllm", "http://x/metrics", readings), TimeAxis(zero_s))


def at(second, gauges=None, **counters):
    """Return a reading of a second of the axis; counters have one series."""
    return Reading(
        100.0 + second, gauges or {}, {(name, "a"): value for name, value in counters.items()}
    )


def test_gauges_are_those_at_the_end_and_counters_become_rates():
    found = series(
        at(-1, {"running": 1.0, "kv_cache_rate": 5.0}, generated_tokens=100.0, preemptions=0.0),
        at(0, {"running": 2.0, "kv_cache_rate": 6.0}, generated_tokens=150.0, preemptions=0.0),
        at(2, {"running": 3.0}, generated_tokens=250.0, preemptions=4.0),
    )
    assert (found.t_s, found.seconds) == ([-1.0, 0.0], [1.0, 2.0])
    assert found.running == [2.0, 3.0]
    assert found.kv_cache_rate == [6.0, None]
    assert found.generated_tokens_per_s == [50.0, 50.0]
    assert found.preemptions_per_s == [0.0, 2.0]
    assert (found.waiting, found.prompt_tokens_per_s, found.power_w) == ([], [], [])


def test_a_histogram_becomes_the_mean_of_what_was_added():
    found = series(
        at(0, ttft_s_sum=10.0, ttft_s_count=20.0),
        at(1, ttft_s_sum=11.5, ttft_s_count=25.0),
        at(2, ttft_s_sum=11.5, ttft_s_count=25.0),
    )
    assert found.ttft_ms == [300.0, None]
    assert found.queue_ms == []


def test_prefix_hits_are_a_share_of_the_tokens_or_else_the_servers_own_rate():
    counted = series(
        at(0, {"prefix_hit_rate": 1.0}, prefix_hits=0.0, prefix_queries=100.0),
        at(1, {"prefix_hit_rate": 2.0}, prefix_hits=30.0, prefix_queries=160.0),
    )
    assert counted.prefix_hit_rate == [50.0]
    own = series(at(0, {"prefix_hit_rate": 1.0}), at(1, {"prefix_hit_rate": 2.0}))
    assert own.prefix_hit_rate == [2.0]


def test_power_is_the_gauge_or_else_the_growth_of_the_energy():
    assert series(at(0, energy_j=10.0), at(2, energy_j=610.0)).power_w == [300.0]
    gauged = series(at(0, energy_j=10.0), at(2, {"power_w": 310.0}, energy_j=610.0))
    assert gauged.power_w == [310.0]


def test_a_restart_leaves_a_gap_and_no_nonsense():
    found = series(
        at(0, generated_tokens=1000.0),
        at(1, generated_tokens=1100.0),
        at(2, generated_tokens=10.0),
        at(3, generated_tokens=60.0),
    )
    assert found.generated_tokens_per_s == [100.0, None, 50.0]


def test_a_reading_just_after_another_makes_no_interval():
    found = series(at(0, {"running": 1.0}), at(1, {"running": 2.0}), at(1.1, {"running": 0.0}))
    assert (found.t_s, found.running) == ([0.0], [2.0])


TOKENS = "generated_tokens"


@pytest.mark.parametrize(
    ("before", "after", "grown"),
    [
        ({"a": 1.0, "b": 5.0}, {"a": 3.0, "b": 5.0}, 2.0),
        ({"a": 1.0}, {"a": 1.0, "b": 7.0}, 7.0),
        ({}, {"a": 4.0}, 4.0),
        ({"a": 9.0, "b": 5.0}, {"a": 99.0, "b": 4.0}, None),
        ({"a": 9.0, "b": 5.0}, {"a": 99.0}, None),
        ({}, {}, None),
        ({"a": 0.0, "b": 0.0}, {"a": 1e15, "b": 1e15}, None),
    ],
    ids=["sum", "new label", "first request", "one fell", "one vanished", "absent", "too large"],
)
def test_the_growth_of_a_counter_is_that_of_all_its_series(before, after, grown):
    first, second = (
        Reading(float(second), {}, {(TOKENS, label): value for label, value in labels.items()})
        for second, labels in enumerate((before, after))
    )
    assert growth(first, second, TOKENS) == grown
