"""Numbers of the measured window: growth of counters, means and maxima, of several sources."""

from __future__ import annotations

import pytest

from torr.monitor.readings import Reading
from torr.monitor.serving_source import ServingReadings
from torr.monitor.serving_window import Window, serving_samples, serving_usage, stale_s
from torr.monitor.time_axis import TimeAxis

ZERO_S = 1000.0
WINDOW = Window(ZERO_S, 10.0)


def readings(seconds, gauges=None, **counters):
    """Return a reading a second; each value is a function of the second of the axis."""
    return [
        Reading(
            ZERO_S + second,
            {name: value(second) for name, value in (gauges or {}).items()},
            {(name, "a"): value(second) for name, value in counters.items()},
        )
        for second in seconds
    ]


def whole(gauges=None, **counters):
    return readings(range(-2, 13), gauges, **counters)


def usage(*sources, window=WINDOW):
    return serving_usage(sources, window)


def test_only_the_window_counts():
    tokens = {-2: 0, -1: 5000, 0: 6000}
    found = usage(
        whole(
            {"running": lambda s: 99.0 if s < 0 or s > 10 else float(s)},
            generated_tokens=lambda s: float(tokens.get(s, 6000 + 100 * min(s, 10))),
        )
    )
    assert found.generated_tokens_per_s == 100.0
    assert (found.running_mean, found.running_max) == (5.0, 10.0)


def test_growth_is_interpolated_at_both_ends_of_the_window():
    found = usage(
        readings([-0.5 + step for step in range(13)], generated_tokens=lambda s: 1000 + 60 * s)
    )
    assert found.generated_tokens_per_s == pytest.approx(60.0)


def test_a_mean_is_the_growth_of_the_sum_by_that_of_the_count():
    found = usage(
        whole(
            queue_s_sum=lambda s: 100 + 2.0 * s,
            queue_s_count=lambda s: 50 + 10.0 * s,
            ttft_s_sum=lambda s: 3.0 * s + 10,
            ttft_s_count=lambda s: 10.0 * s + 50,
            prefix_hits=lambda s: 36.0 * s + 500,
            prefix_queries=lambda s: 100.0 * s + 900,
            preemptions=lambda s: 1.0 if s < 5 else 4.0,
        )
    )
    assert (found.queue_ms, found.ttft_ms) == pytest.approx((200.0, 300.0))
    assert found.first_tokens == pytest.approx(100.0)
    assert found.prefix_hit_rate == pytest.approx(36.0)
    assert found.preemptions == 3.0


def test_a_time_without_requests_has_no_mean():
    found = usage(whole(queue_s_sum=lambda _: 7.0, queue_s_count=lambda _: 20.0))
    assert found.queue_ms is None


@pytest.mark.parametrize(
    ("second", "expected"), [(-1, 50.0), (0, 50.0), (3, None), (10, None), (11, 50.0)]
)
def test_a_restart_makes_numbers_unknown_only_within_the_window(second, expected):
    def tokens(at):
        return 50.0 * at + (5000 if at < second else 200)

    assert usage(whole(generated_tokens=tokens)).generated_tokens_per_s == expected


def test_a_counter_that_begins_with_the_first_request_counts_from_0():
    lazy = [*readings(range(-2, 4)), *readings(range(4, 13), generated_tokens=lambda s: 80.0 * s)]
    # 320 tokens until second 4, in which the counter appears.
    assert usage(lazy).generated_tokens_per_s == 80.0


def test_a_counter_that_covers_too_little_of_the_window_is_unknown():
    def early(last):
        return readings(range(-2, last + 1), generated_tokens=lambda s: 50.0 * s + 100)

    assert usage(early(9)).generated_tokens_per_s == pytest.approx(50.0)
    assert usage(early(7)).generated_tokens_per_s is None
    assert usage([]).generated_tokens_per_s is None


def test_a_load_that_ended_before_the_last_reading_is_not_thinned_out():
    def tokens(second):
        return 50.0 * min(second, 10.0) + 100

    late = readings([*range(-2, 10), 11.5], generated_tokens=tokens)
    assert usage(late).generated_tokens_per_s == pytest.approx(50.0)


def test_what_no_source_has_is_null():
    found = usage(whole({"running": lambda _: 1.0}))
    known = {name for name in found.__struct_fields__ if getattr(found, name) is not None}
    assert known == {"running_mean", "running_max"}


def test_a_short_window_takes_the_readings_beside_it():
    near = readings([-0.2, 0.4], {"waiting": lambda s: 2.0 if s < 0 else 4.0})
    found = usage(near, window=Window(ZERO_S, 0.3))
    assert (found.waiting_mean, found.waiting_max) == (3.0, 4.0)
    far = readings([-5.0, 9.0], {"waiting": lambda _: 2.0})
    assert usage(far, window=Window(ZERO_S, 0.3)).waiting_mean is None


def test_energy_joins_the_tokens_of_a_server_with_gpus():
    server = whole(generated_tokens=lambda s: 900.0 * s + 5000)
    gpu = whole(
        {
            "power_w": lambda _: 290.0,
            "gpu_rate": lambda _: 80.0,
            "busiest_gpu_rate": lambda _: 95.0,
        },
        energy_j=lambda s: 300.0 * s + 1e6,
    )
    found = usage(server, gpu)
    assert (found.energy_j, found.power_w) == pytest.approx((3000.0, 300.0))
    assert found.tokens_per_j == pytest.approx(3.0)
    assert (found.gpu_mean_rate, found.busiest_gpu_mean_rate) == (80.0, 95.0)
    assert usage(server).tokens_per_j is None
    assert usage(gpu).tokens_per_j is None


def test_gpus_without_a_counter_of_energy_have_that_of_their_mean_power():
    found = usage(
        whole({"power_w": lambda s: 200.0 if s < 5 else 300.0}),
        whole(generated_tokens=lambda s: 100.0 * s + 500),
    )
    assert found.power_w == pytest.approx(254.545, abs=0.01)
    assert found.energy_j == pytest.approx(2545.45, abs=0.1)
    assert found.tokens_per_j == pytest.approx(1000 / 2545.45, rel=1e-3)


def test_several_servers_add_up_and_their_percentages_are_averaged():
    first = whole(
        {"running": lambda s: float(s == 3) * 8, "kv_cache_rate": lambda _: 90.0},
        generated_tokens=lambda s: 10.0 * s + 100,
        ttft_s_sum=lambda s: 1.0 * s + 9,
        ttft_s_count=lambda s: 10.0 * s + 90,
    )
    second = whole(
        {"running": lambda s: float(s == 6) * 5, "kv_cache_rate": lambda _: 30.0},
        generated_tokens=lambda s: 30.0 * s + 100,
        ttft_s_sum=lambda s: 9.0 * s + 90,
        ttft_s_count=lambda s: 30.0 * s + 90,
    )
    found = usage(first, second)
    assert found.generated_tokens_per_s == pytest.approx(40.0)
    assert found.running_max == 8.0  # in different seconds
    assert found.running_mean == pytest.approx(13 / 11, abs=1e-5)
    assert (found.kv_cache_mean_rate, found.kv_cache_max_rate) == (60.0, 90.0)
    assert found.ttft_ms == pytest.approx(250.0)  # of all requests


def test_sums_are_known_where_sources_kept_readings_of_different_seconds():
    waits = {"waiting": lambda s: 50.0 * (200 <= s < 900)}
    even, odd = readings(range(0, 1500, 2), waits), readings(range(1, 1500, 2), waits)
    assert usage(even, odd, window=Window(ZERO_S, 1500.0)).waiting_max == 100.0


def test_a_part_of_the_servers_is_not_taken_for_all():
    fine = whole(generated_tokens=lambda s: 10.0 * s + 100)
    restarted = whole(generated_tokens=lambda s: 30.0 * s + (900 if s < 5 else 0) + 100)
    assert usage(fine, restarted).generated_tokens_per_s is None


def test_a_restart_makes_the_hits_unknown_although_the_server_has_a_rate_too():
    sglang = whole(
        {"prefix_hit_rate": lambda _: 12.0},
        prefix_hits=lambda s: 5.0 * s + (900 if s < 5 else 10),
        prefix_queries=lambda s: 10.0 * s + (2000 if s < 5 else 20),
    )
    assert usage(sglang).prefix_hit_rate is None
    assert usage(whole({"prefix_hit_rate": lambda _: 12.0})).prefix_hit_rate == 12.0


OF_VLLM = {"running": lambda _: 1.0, "waiting": lambda _: 0.0}
OF_GPU = {
    "power_w": lambda _: 300.0,
    "gpu_rate": lambda _: 40.0,
    "busiest_gpu_rate": lambda _: 40.0,
}


@pytest.mark.parametrize("dead", [(), readings(range(-900, -800), OF_VLLM)])
def test_a_server_that_did_not_answer_makes_the_sums_unknown(dead):
    fine = whole(OF_VLLM, generated_tokens=lambda s: 10.0 * s + 100)
    taken = [ServingReadings("vllm", "a", fine), ServingReadings("vllm", "b", dead)]
    found = serving_samples(taken, TimeAxis(ZERO_S), 10.0).derived
    assert (found.running_mean, found.waiting_mean, found.waiting_max) == (None, None, None)
    assert serving_samples(taken[:1], TimeAxis(ZERO_S), 10.0).derived.running_mean == 1.0
    if not dead:
        assert found.generated_tokens_per_s is None


@pytest.mark.parametrize("is_stale", [True, False])
def test_gpus_whose_numbers_are_old_or_missing_make_those_of_all_unknown(is_stale):
    seconds = range(-2, 62)
    fresh = readings(seconds, OF_GPU, energy_j=lambda s: 300.0 * s + 1000)
    vllm = readings(seconds, generated_tokens=lambda s: 100.0 * s + 300)
    other = stepping(30) if is_stale else ()
    taken = [
        ServingReadings("vllm", "a", vllm),
        ServingReadings("dcgm", "b", fresh),
        ServingReadings("dcgm", "c", other),
    ]
    found = serving_samples(taken, TimeAxis(ZERO_S), 60.0).derived
    of_gpus = (found.power_w, found.energy_j, found.tokens_per_j, found.busiest_gpu_mean_rate)
    assert of_gpus == (None, None, None, None)
    assert found.generated_tokens_per_s == pytest.approx(100.0)
    both = serving_samples(taken[:2], TimeAxis(ZERO_S), 60.0).derived
    assert both.tokens_per_j == pytest.approx(100 / 300)


def stepping(every_s, seconds=60):
    return readings(
        range(-2, seconds + 2),
        {"power_w": lambda _: 300.0},
        energy_j=lambda s: 300.0 * every_s * ((s + 2) // every_s),
    )


@pytest.mark.parametrize(
    ("every_s", "seconds", "longest"),
    [(1, 10, None), (2, 10, None), (5, 60, None), (10, 60, 9), (30, 60, 29), (30, 10, 10)],
)
def test_numbers_of_gpus_that_are_updated_too_rarely_are_known_as_such(every_s, seconds, longest):
    found = stale_s(stepping(every_s, seconds), Window(ZERO_S, float(seconds)))
    assert found == longest


def test_gpus_that_were_read_rarely_are_not_taken_for_stale():
    rare = readings([-2, 0, 18, 40, 60], energy_j=lambda s: 300.0 * s + 1000)
    assert stale_s(rare, Window(ZERO_S, 60.0)) is None


def test_stale_numbers_are_left_out_of_the_joins_and_said():
    taken = ServingReadings("dcgm", "http://gpu:9400/metrics", stepping(30))
    found = serving_samples([taken], TimeAxis(ZERO_S), 60.0)
    assert found.derived.power_w is None
    assert found.derived.energy_j is None
    (series,) = found.sources
    assert series.power_w[0] == 300.0
    assert series.error.code == "warning.gpu_stale"
    assert "no new numbers for 29 s" in series.error


def test_an_error_of_reading_is_kept_in_the_series():
    from torr.messages.message import message

    error = message("warning.endpoint_late", "monitor: {url} did not answer in time", url="x")
    taken = ServingReadings("vllm", "x", whole({"running": lambda _: 1.0}), error)
    found = serving_samples([taken], TimeAxis(ZERO_S), 10.0)
    assert found.sources[0].error is error
    assert found.derived.running_mean == 1.0
