"""`--levels auto`: decided on curves whose truth is known."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from itertools import pairwise

import pytest

from doubles import Truth, measured_level
from torr.experiments.auto import (
    Point,
    Search,
    has_topped_out,
    next_position,
    point_of,
    relative_error,
)
from torr.model.condition import Condition

SEARCH = Search()


def saturating(users, *, capacity=64, service_ms=5.0):
    """Linear to the capacity, flat after it, with the queue in the service time."""
    rate = min(users, capacity) * 1000 / service_ms
    return Point(users, rate, users / rate * 1000)


def flat(users):
    return Point(users, 1000.0, users * 1.0)


def collapsing(users):
    rate = min(users, 32) * 200 * (1 if users <= 64 else 64 / users)
    return Point(users, rate, users / rate * 1000)


def usl(users):
    rate = 500 * users / (1 + 0.03 * (users - 1) + 0.0005 * users * (users - 1))
    return Point(users, rate, users / rate * 1000)


def linear(users):
    return Point(users, users * 10.0, 100.0)


def explore(curve, search=SEARCH):
    points = []
    while (users := next_position(points, search)) is not None:
        assert users not in {p.position for p in points if not p.claims_nothing}
        points.append(curve(users))
        assert len(points) < 60
    return points


def concurrencies(points):
    return [point.position for point in points]


def knee_of(points):
    return max(points, key=lambda p: p.power).position


def test_the_gap_below_users_that_starve_is_narrowed():
    def serves_100(users):
        return replace(linear(users), claims_nothing=users > 100, starves=users > 100)

    levels = concurrencies(explore(serves_100))
    assert any(80 <= users <= 100 for users in levels)
    assert any(100 < users <= 115 for users in levels)


def test_it_doubles_until_two_levels_bring_nothing_more():
    climbed = [1, 2, 4, 8, 16, 32, 64, 128, 256]
    assert concurrencies(explore(saturating))[: len(climbed)] == climbed
    assert next_position([saturating(users) for users in climbed], SEARCH) < 256


@pytest.mark.parametrize("curve", [saturating, collapsing, usl])
def test_levels_around_the_knee_lie_close_and_all_at_most_a_factor_of_two_apart(curve):
    points = explore(curve)
    levels = sorted(concurrencies(points))
    assert all(high <= 2 * low for low, high in pairwise(levels))
    at = levels.index(knee_of(points))
    assert levels[at + 1] / levels[at] < 1.5
    assert levels[at] / levels[at - 1] < 1.5


def test_it_finds_the_knee_of_a_server_with_a_capacity():
    assert knee_of(explore(saturating)) == 64
    found = knee_of(explore(lambda users: saturating(users, capacity=90)))
    assert 90 / 1.25 <= found <= 90 * 1.25


def test_a_flat_curve_costs_few_levels():
    assert len(explore(flat)) <= 6


def test_a_curve_that_never_ends_stops_at_the_most():
    points = explore(linear, Search(most=1000))
    assert max(concurrencies(points)) == 1000
    assert len(points) <= 11 + SEARCH.refinements


def test_a_collapse_is_climbed_no_further_than_two_levels_past_the_peak():
    assert max(concurrencies(explore(collapsing))) == 128


def test_refining_is_bounded():
    points = explore(usl, Search(refinements=2))
    doubled = [p for p in concurrencies(points) if math.log2(p).is_integer()]
    assert len(points) - len(doubled) == 2


@pytest.mark.parametrize("seed", range(20))
def test_noise_neither_stops_the_climb_early_nor_keeps_it_going(seed):
    generator = random.Random(seed)

    def noisy(users):
        true = saturating(users)
        rate = true.ok_per_s * generator.gauss(1, 0.1)
        return Point(users, rate, true.mean_service_ms, noise=0.1)

    highest = max(concurrencies(explore(noisy)))
    assert 128 <= highest <= 1024


def test_one_bad_level_does_not_end_the_climb():
    def hiccup(users):
        true = saturating(users)
        return Point(users, 10.0, 400.0) if users == 8 else true

    assert max(concurrencies(explore(hiccup))) == 256


def test_an_slo_that_breaks_ends_the_climb_and_its_edge_is_refined():
    def curve(users):
        true = saturating(users, capacity=64)
        broken = true.mean_service_ms > 9
        return Point(users, true.ok_per_s, true.mean_service_ms, breaks_slo=broken)

    points = explore(curve)
    assert max(concurrencies(points)) == 128
    holding = max(p.position for p in points if not p.breaks_slo)
    breaking = min(p.position for p in points if p.breaks_slo)
    assert breaking / holding <= 1.25
    assert holding <= 115.2 <= breaking


def test_an_slo_that_the_first_level_breaks_ends_at_once():
    assert len(explore(lambda users: Point(users, 10.0, 1.0, breaks_slo=True))) == 1


def test_levels_limited_by_the_generator_end_the_climb_and_claim_nothing():
    def curve(users):
        return Point(users, users * 10.0, 100.0, claims_nothing=users > 16)

    points = explore(curve)
    assert max(concurrencies(points)) == 64
    assert next_position([Point(1, 5, 1, claims_nothing=True)] * 2, SEARCH) is None


def test_a_level_for_refining_that_claims_nothing_is_measured_twice():
    def curve(users):
        return replace(saturating(users), breaks_slo=users > 64, claims_nothing=64 < users < 128)

    refined = concurrencies(explore(curve))[len([1, 2, 4, 8, 16, 32, 64, 128]) :]
    assert refined.count(91) == 2
    assert len(set(refined)) > 1  # the gap beside the knee


def test_the_start_can_be_chosen():
    assert next_position([], Search(start=100)) == 100
    assert has_topped_out([Point(100, 1.0)], Search(start=100, most=100))


def test_a_point_says_what_its_level_and_intervals_say():
    level = measured_level(50, Truth(ok_per_s=1000, service_ms=5, health="generator-limited"))
    point = point_of(level, [900.0, 1000.0, 1100.0])
    assert (point.position, point.ok_per_s, point.mean_service_ms) == (50, 1000.0, 5.0)
    assert point.claims_nothing
    assert point.noise == pytest.approx(0.1 / math.sqrt(3))


def test_a_point_knows_whether_an_slo_is_broken():
    slos = [Condition.parse("p95 < 6ms")]
    assert point_of(measured_level(50, Truth(service_ms=5)), (), slos).breaks_slo
    assert not point_of(measured_level(50, Truth(service_ms=3)), (), slos).breaks_slo


def test_intervals_that_are_alike_their_neighbours_are_noisier_than_independent_ones():
    rates = [100.0, 104.0, 96.0, 102.0, 98.0, 103.0, 97.0, 101.0, 99.0, 100.0]
    assert relative_error(sorted(rates)) > 2 * relative_error(rates) > 0


def test_the_noise_of_too_few_or_empty_intervals_is_not_known():
    assert relative_error([1.0, 2.0]) == 0
    assert relative_error([0.0, 0.0, 0.0]) == 0


def test_a_gap_below_a_broken_slo_starts_at_a_level_that_claims_something():
    held, limited = Point(8, 80.0, 1.0), Point(16, 160.0, 1.0, claims_nothing=True)
    broken = Point(32, 10.0, 400.0, breaks_slo=True)
    assert next_position([held, limited, broken], SEARCH) == 16


def test_a_level_at_which_nothing_succeeded_breaks_every_slo():
    slos = [Condition.parse("p95 < 6ms")]
    assert point_of(measured_level(50, Truth(0, errors={"status": 9})), (), slos).breaks_slo
    assert point_of(measured_level(50, Truth(0, failure="hung")), (), slos).breaks_slo


RATES = Search(1.0, 100_000.0, finest=1.1, is_of_rates=True)


def rate_limit(per_s, **more):
    """Answers at most `per_s`; more of it makes requests wait."""

    def curve(rate):
        return Point(rate, min(rate, per_s), 5.0, falls_behind=rate > per_s, **more)

    return curve


@pytest.mark.parametrize("per_s", [0.7, 3.3, 42.0, 230.0, 9_999.0])
def test_the_highest_rate_that_a_target_keeps_up_with_is_found(per_s):
    points = explore(rate_limit(per_s), replace(RATES, start=min(1.0, per_s)))
    kept = max(p.position for p in points if not p.falls_behind)
    missed = min(p.position for p in points if p.falls_behind)
    assert kept <= per_s < missed <= 1.1 * kept


def test_the_first_rate_above_the_capacity_ends_the_climb():
    points = explore(rate_limit(300), RATES)
    assert max(p.position for p in points) == 512


def test_an_slo_that_a_rate_breaks_is_narrowed_too():
    def curve(rate):
        return Point(rate, rate, 5.0, breaks_slo=rate > 140)

    points = explore(curve, RATES)
    held = max(p.position for p in points if not p.breaks_slo)
    broken = min(p.position for p in points if p.breaks_slo)
    assert held <= 140 < broken <= 1.1 * held


def test_rates_whose_excess_fails_end_the_climb_and_the_gap_below_the_peak_is_narrowed():
    def refusing(rate):
        return Point(rate, min(rate, 300.0), 5.0)

    points = explore(refusing, RATES)
    assert max(p.position for p in points) <= 2048
    full = min(p.position for p in points if p.ok_per_s >= 0.95 * 300)
    below = max(p.position for p in points if p.ok_per_s < 0.95 * 300)
    assert full <= 1.1 * below


def test_rates_have_three_digits():
    points = explore(rate_limit(9_999), RATES)
    refined = points[15:]
    assert refined
    assert all(p.position == float(f"{p.position:.3g}") for p in refined)


def test_the_first_rate_above_the_capacity_ends_at_once():
    assert explore(rate_limit(0.5), RATES) == [Point(1.0, 0.5, 5.0, falls_behind=True)]
