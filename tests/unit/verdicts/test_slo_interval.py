import math
from random import Random

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

import typed
from streamed import histogram
from torr.model.condition import Condition
from torr.results.functions import MachineSpeed
from torr.stats.histogram import Histogram
from torr.verdicts import capacity
from torr.verdicts.budget import Budget
from torr.verdicts.slo_interval import interval, of_percentile

P95 = Condition.parse("p95 < 25ms")


def level(*, times_ms=(), ok=1000, failed=0, rates=(), verdict="healthy", **more):
    """One round of a level, with a histogram of its times and intervals of its rates."""
    ordered = sorted(times_ms)
    place = math.ceil(0.95 * len(ordered) - 1e-9) - 1
    stats = (
        {"n": len(ordered), "mean": 10.0, "stdev": 4.0, "p95": ordered[place]} if ordered else {}
    )
    intervals = [
        {"t_s": 0.0, "phase": "measure", "seconds": 1.0, "ok_per_s": rate} for rate in rates
    ]
    members = {
        "concurrency": 10,
        "ok_per_s": sum(rates) / len(rates) if rates else 1000.0,
        "counts": {"attempted": ok + failed, "ok": ok, "errors": {"read": failed}, "dropped": 0},
        "latency": {"response_ms": stats or None},
        "histograms": {"response": histogram([int(t * 1e6) for t in times_ms])} if ordered else {},
        "intervals": [{"t_s": 0.0, "phase": "warmup", "seconds": 1.0, "ok_per_s": 1.0}, *intervals],
        "health": {"verdict": verdict, "reasons": []},
        **more,
    }
    return typed.level(**members)


def drawn(seed, count=1000):
    random = Random(seed)
    return [random.lognormvariate(2, 0.5) for _ in range(count)]


@pytest.mark.parametrize(
    ("share", "count"),
    [(0.5, 100), (0.95, 400), (0.99, 1000), pytest.param(0.99, 5000, marks=pytest.mark.full)],
)
def test_the_interval_of_a_percentile_holds_it_nine_times_in_ten(share, count):
    random, held = Random(3), 0
    for _ in range(600):
        # Ranks are of uniform values those of any others.
        low, high = of_percentile(
            Histogram({int(random.random() * 1e9) + at: 1 for at in range(count)}), share
        )
        held += low <= 1000 * share <= high
    assert 0.87 <= held / 600 <= 0.97


def test_the_interval_of_a_percentile_is_around_it_and_narrows_with_more_answers():
    few, many = level(times_ms=drawn(1)), level(times_ms=drawn(1, 20_000))
    spans = []
    for each in (few, many):
        low, high = interval(P95, [each])
        assert low < each.latency.response.p95 < high
        spans.append(high - low)
    assert spans[1] < spans[0] / 3


@pytest.mark.parametrize(
    ("failed", "low", "high"), [(0, 0.0, 0.27), (10, 0.60, 1.67), (1000, 48.16, 51.84)]
)
def test_the_interval_of_a_share_is_wilson_s(failed, low, high):
    found = level(ok=1000 if failed == 1000 else 1000 - failed, failed=failed)
    assert interval(Condition.parse("errors < 1%"), [found]) == pytest.approx((low, high), abs=0.01)
    ends = interval(Condition.parse("success > 99%"), [found])
    assert ends == pytest.approx((100 - high, 100 - low), abs=0.01)


@pytest.mark.parametrize("ok", [1, 7, 1000, 3577])
def test_the_interval_of_a_share_ends_at_none_and_at_all(ok):
    assert interval(Condition.parse("success > 99%"), [level(ok=ok)])[1] == 100
    assert interval(Condition.parse("errors < 1%"), [level(ok=ok)])[0] == 0


def test_the_interval_of_a_rate_is_by_its_intervals_and_allows_for_their_correlation():
    rates = [100.0, 104.0, 96.0, 102.0, 98.0, 103.0, 97.0, 101.0, 99.0, 100.0]
    slo = Condition.parse("ok/s > 90")
    low, high = interval(slo, [level(rates=rates)])
    assert (low, high) == pytest.approx((98.6, 101.4), abs=0.2)
    wide = interval(slo, [level(rates=sorted(rates))])
    assert wide[1] - wide[0] > 2 * (high - low)
    assert interval(slo, [level(rates=rates[:5])]) is None


def test_the_interval_of_a_mean_is_by_its_standard_deviation():
    found = interval(Condition.parse("mean < 20ms"), [level(times_ms=drawn(1))])
    assert found == pytest.approx((10 - 1.645 * 4 / math.sqrt(1000), 10 + 1.645 * 4 / 1000**0.5))


def test_few_rounds_are_as_far_apart_as_their_own_ends_and_five_are_judged_as_budgets_are():
    rounds = [level(times_ms=drawn(seed)) for seed in range(5)]
    own = [interval(P95, [each]) for each in rounds[:2]]
    assert interval(P95, rounds[:2]) == (min(a for a, _ in own), max(b for _, b in own))
    (budget,) = Budget.all_of({"p95": "<25ms"})
    speed = MachineSpeed(1.0, 1.0, 1.0)
    assert interval(P95, rounds) == pytest.approx(budget.judge(rounds, speed).interval)


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("p95 < 25ms", {"histograms": {}}),
        ("max < 25ms", {}),
        ("failures > 3", {}),
        ("ok/s > 90", {"verdict": "contended"}),
        ("p95 < 25ms", {"latency": {"response_ms": {"n": 1000, "p95": 9.0, "at_least": ["p95"]}}}),
        ("shop: p95 < 25ms", {}),
    ],
)
def test_what_is_not_known_has_no_interval(text, more):
    known = {"times_ms": drawn(1), "rates": [100.0, 101.0] * 5}
    assert interval(Condition.parse(text), [level(**known, **more)]) is None


@pytest.mark.parametrize(
    ("factor", "word", "reason"),
    [
        (1.3, "held", None),
        (0.7, "broken", None),
        (1.005, "held", "the limit lies within the 90 % interval"),
        (0.995, "broken", "the limit lies within the 90 % interval"),
    ],
)
def test_a_verdict_says_where_chance_may_have_decided_its_word(factor, word, reason):
    found = level(times_ms=drawn(1))
    limit = factor * found.latency.response.p95
    slo = Condition.parse(f"p95 < {limit:.4f}ms")
    (verdict,) = capacity.verdicts([found], [slo])
    assert (verdict.word, verdict.reason) == (word, reason)
    assert verdict.interval == interval(slo, [found])


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_of_a_share_is_scipys_by_wilson(drawn_counts):
    failed, count = drawn_counts
    slo = Condition.parse("errors < 1%")
    [low, high] = interval(slo, [level(ok=count - failed, failed=failed)])
    confidence = 2 * scipy.stats.norm.cdf(1.645) - 1
    expected = scipy.stats.binomtest(failed, count).proportion_ci(confidence, method="wilson")
    assert (low, high) == pytest.approx((100 * expected.low, 100 * expected.high), abs=1e-9)
