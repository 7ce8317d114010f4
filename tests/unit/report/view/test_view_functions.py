"""The chart of functions: what stands where."""

from __future__ import annotations

import json
import math

import pytest

import typed
from timed import budget, budgeted, result, round_of
from torr.report.view import view
from torr.report.view.view_functions import FunctionChart

RATE = {"metric": "ok_per_s", "condition": "ops >50k/s", "limit": 50_000.0}


def of(*budgets, **more):
    return FunctionChart.of(result(budgets=list(budgets), **more))


def used(found):
    """How much of the first row's budget is used."""
    return math.exp(found.rows[0].centre)


@pytest.mark.parametrize(
    ("more", "use"),
    [
        ({}, 0.02),
        ({**RATE, "value": 100e3, "interval": (99e3, 101e3)}, 0.5),
        ({**RATE, "value": 25e3, "interval": (24e3, 26e3)}, 2.0),
        ({"metric": "error_rate", "condition": "errors <2%", "limit": 2.0, "value": 1.0}, 0.5),
        (
            {"metric": "success_rate", "condition": "success >99%", "limit": 99.0, "value": 99.5},
            0.5,
        ),
        ({"metric": "error_rate", "condition": "errors <=0%", "limit": 0.0, "value": 0.0}, 1.0),
    ],
)
def test_a_budget_stands_where_it_is_used_up_so_far(more, use):
    assert used(of(budget("held", **more))) == pytest.approx(use)


def test_what_is_met_stands_left_of_the_limit_whichever_way_its_number_goes():
    for row in FunctionChart.of(budgeted()).rows:
        if row.standing != "not shown":
            assert all(at < 0 for at in row.positions) == (row.standing == "held")


def test_an_interval_ends_where_its_numbers_do_the_lower_first():
    (row,) = of(budget("held", **RATE, value=100e3, interval=(80e3, 125e3))).rows
    assert row.interval == pytest.approx((math.log(0.4), math.log(0.625)))


def test_rounds_are_dots_of_the_budgets_own_number():
    (row,) = of(budget("held", **RATE, value=103e3)).rows
    assert [each.number for each in row.rounds] == [1, 2, 3, 4, 5, 6]
    assert row.rounds[0].at == pytest.approx(math.log(50 / 101))
    assert row.rounds[0].text == "ok/s 101,000"
    assert of(budget("held", candidate="t.py::other")).rows[0].rounds == ()


def test_a_row_has_the_rounds_of_its_own_function():
    twins = ("a/test_x.py::test", "b/test_x.py::test")
    levels = [round_of(name, rate=rate) for name, rate in zip(twins, (1e5, 2e5), strict=True)]
    budgets = [budget("held", candidate=name, **RATE, value=1e5) for name in twins]
    rows = of(*budgets, levels=levels).rows
    assert {row.name: [each.text for each in row.rounds] for row in rows} == {
        twins[0]: ["ok/s 100,000"],
        twins[1]: ["ok/s 200,000"],
    }


def test_what_is_missed_comes_first_and_the_fullest_of_each_word():
    found = FunctionChart.of(budgeted())
    assert [row.standing for row in found.rows] == [
        *("broken", "not shown", "not shown", "held", "held", "held")
    ]
    assert [row.amount for row in found.rows] == [
        "49 ×",
        "0.94 ×",
        "–",
        "0.54 ×",
        "0.12 ×",
        "0.02 ×",
    ]


def test_a_budget_that_is_hardly_used_stands_at_the_edge():
    found = of(budget("held", limit=1e6), budget("broken", limit=0.01))
    assert found.limits[0] < math.log(0.001) < found.limits[0] + 1
    assert found.shown(found.rows[1].centre) == found.limits[0]
    assert found.rows[1].amount == "<0.001 ×"


def test_the_axis_has_the_limit_and_what_lies_around_it():
    marks = dict(of(budget("held", limit=0.03)).marks())
    assert marks[0.0] == "1 ×"
    assert {"0.5 ×", "2 ×"} <= set(marks.values())


def test_without_budgets_rows_are_functions_by_their_rate():
    found = FunctionChart.of(result())
    assert not found.is_of_budgets
    (row,) = found.rows
    assert (row.name, row.amount) == ("test_cache.py::test_put", "103,500")
    assert math.exp(row.centre) == pytest.approx(103_500)
    assert [each.text for each in row.rounds][:2] == ["101,000", "102,000"]
    # A spread of 2 % looks like one.
    assert found.limits[1] - found.limits[0] >= math.log(10)
    assert "100k" in dict(found.marks()).values()


@pytest.mark.parametrize(
    "empty",
    [
        {"levels": []},
        {"levels": [], "budgets": [budget("not shown", value=None, interval=None)]},
        {"levels": [typed.changed(round_of(), counts={})]},
    ],
)
def test_where_nothing_is_to_be_drawn_there_is_no_chart(empty):
    found = result(**empty)
    assert FunctionChart.of(found) is None
    assert view.view(found)["functions"] is None


def test_more_rows_than_a_page_has_room_for_are_counted():
    found = of(*(budget("held", candidate=f"t.py::test_{n}") for n in range(50)))
    assert (len(found.rows), found.left_out) == (40, 10)


def test_the_page_is_given_positions_on_the_axis_and_words():
    shown = json.loads(json.dumps(view.view(budgeted()), allow_nan=False))["functions"]
    low, high = shown["limits"]
    for row in shown["rows"]:
        places = [each["at"] for each in row["rounds"]] + (row["interval"] or [])
        assert all(low <= at <= high for at in places)
    first = shown["rows"][0]
    assert (first["name"], first["budget"]) == ("test_store.py::test_scan", "ops >50k/s")
    assert first["word"] == {"en": "missed", "zh": "未达标"}


def test_a_round_beyond_the_axis_says_on_which_side():
    levels = [round_of(number=1, rate=100e3), round_of(number=2, rate=1e-3)]
    shown = view.view(result(budgets=[budget("held", **RATE, value=100e3)], levels=levels))
    assert [each["beyond"] for each in shown["functions"]["rows"][0]["rounds"]] == [0, 1]


def test_only_functions_have_it(run):
    assert view.view(run)["functions"] is None
