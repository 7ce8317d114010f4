import random

import pytest

from versus.lateness import SETTLED_S, lateness, quantile

RATE = 1000
PERIOD_NS = 1_000_000
START_NS = 7_000_000_000_000


def arrivals(count, late_ns=lambda _: 0):
    return [START_NS + number * PERIOD_NS + late_ns(number) for number in range(count)]


def test_a_perfect_grid_is_never_late():
    found = lateness(arrivals(3000), RATE)
    assert (found.p50_us, found.p99_us) == (0, 0)
    assert found.reached_per_s == pytest.approx(RATE)


def test_the_first_second_is_not_judged():
    found = lateness(arrivals(3000, lambda number: 40_000 if number < 999 else 0), RATE)
    assert SETTLED_S == 1.0
    assert found.p99_us == 0
    assert 1990 <= found.arrivals <= 2001


def test_one_in_fifty_that_is_late_shows_in_the_99th_percentile_only():
    found = lateness(arrivals(6000, lambda number: 300_000 if number % 50 == 0 else 0), RATE)
    assert found.p50_us == 0
    assert found.p99_us == pytest.approx(300)


def test_the_same_delay_for_all_is_the_network_and_not_lateness():
    found = lateness(arrivals(3000, lambda _: 80_000), RATE)
    assert found.p99_us == 0


def test_a_single_early_arrival_does_not_make_the_others_late():
    found = lateness(arrivals(3000, lambda number: -900_000 if number == 2000 else 0), RATE)
    assert found.p99_us == 0


def test_jitter_is_measured_from_the_early_side():
    drawn = random.Random(1)
    found = lateness(arrivals(20_000, lambda _: drawn.randrange(100_000)), RATE)
    assert found.p50_us == pytest.approx(49, abs=2)
    assert found.p99_us == pytest.approx(98, abs=2)


def test_a_tool_that_falls_behind_gets_later_and_later():
    slow = [START_NS + number * PERIOD_NS * 1.01 for number in range(3000)]
    found = lateness(slow, RATE)
    assert found.reached_per_s == pytest.approx(RATE / 1.01)
    assert found.p99_us > 10 * 1000


def test_too_few_arrivals_are_refused():
    with pytest.raises(ValueError, match="too few to judge"):
        lateness(arrivals(1050), RATE)
    with pytest.raises(ValueError, match="0 arrivals"):
        lateness([], RATE)


def test_a_quantile_is_a_value_that_was_there():
    values = [float(number) for number in range(1, 101)]
    assert quantile(values, 0.5) == 50
    assert quantile(values, 0.99) == 99
    assert quantile([3.0], 0.99) == 3
