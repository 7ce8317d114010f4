"""How rows of benches/truth are judged, without measuring them."""

from __future__ import annotations

from msgspec.structs import replace

import results
from torr.results.capacity import Capacity, Peak, SloCapacity
from truth import prefix_cache, rates
from truth.row import Round, Row, Value, measured


def test_a_row_that_was_not_measured_is_neither_within_its_bar_nor_beyond(monkeypatch):
    monkeypatch.setattr(prefix_cache, "PYTHON", prefix_cache.ROOT / "no/python")
    row = Row("llama.cpp", "bar", prefix_cache.measure)
    found = measured(row, rounds=1, seconds=1)
    assert found.within is None
    assert found.note == "left out no no/python: make build/llama-cpp/.pins"


def test_one_value_beyond_what_is_allowed_decides():
    near, far = Value(10, 10, 0), Value(12, 10, 1)

    def within(**values):
        return measured(Row("row", "bar", lambda _seconds: Round(values)), 1, 1).within

    assert within(a=near)
    assert not within(a=near, b=far)
    assert not within(a=far, b=near)


def test_the_claims_of_a_ladder_of_rates_are_its_capacity_and_its_peak():
    slo = SloCapacity(concurrency=100, ok_per_s=283.0, rate=283.5)
    ladder = replace(results.ladder(), capacity=Capacity(slo=slo, peak=peak_at(300.0)))
    assert (rates.claimed(ladder), rates.peak_of(ladder)) == (283.5, 300.0)


def test_a_ladder_that_claims_nothing_is_far_from_the_truth():
    ladder = replace(results.ladder(), capacity=Capacity(reasons={}))
    assert (rates.claimed(ladder), rates.peak_of(ladder)) == (0, 0)
    assert rates.claimed(ladder) < rates.LEAST


def peak_at(ok_per_s):
    return Peak(
        concurrency=100,
        ok_per_s=ok_per_s,
        plateau=[320],
        highest_at=320,
        ok_per_s_there=ok_per_s,
        rate=320.0,
    )
