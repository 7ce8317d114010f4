"""Functions under load as people read them."""

from __future__ import annotations

import pytest

from timed import budget, result, round_of
from torr.report import distributions, html, markdown, micro, sentence, trust, view
from torr.report.say import render
from torr.units import show_time


def test_without_budgets_the_functions_are_counted():
    assert sentence.verdict(result()) == "1 function measured."


def test_budgets_are_met_missed_or_cannot_be_told():
    budgets = [budget("held"), budget("broken", "ops >1M/s"), budget("not shown", reason="why")]
    found = result(budgets=budgets)
    assert sentence.verdict(found) == (
        "1 function measured; 1 of 3 budgets met; 1 missed (test_cache.py::test_put: ops >1M/s);"
        " 1 cannot be told."
    )
    assert render(sentence.verdict(found), "zh") == (
        "测了 1 个函数；3 项预算中 1 项达标；1 项未达标（test_cache.py::test_put：ops >1M/s）；"
        "1 项无法判断。"
    )
    rows = micro.budgets(found).rows
    assert rows[0] == (
        *("test_cache.py::test_put", "p99 <1ms", "20.0 µs", "19.0 µs – 21.0 µs", "met"),
    )
    assert rows[2][-1] == "cannot be told: why"


def test_what_a_scaled_budget_is_here_is_said():
    found = result(budgets=[budget("held", limit=0.5, scaled_by=2.0)])
    assert micro.budgets(found).rows[0][1] == "p99 <1ms, here 0.500 ms"


def test_the_trust_line_says_what_the_numbers_stand_on():
    assert trust.trust(result()) == (
        "rounds of each: 6 · spread of rounds up to 1.81 % · speed of this machine 1.38."
    )
    failing = result(levels=[round_of(failed=3)])
    assert "1 function raised errors" in trust.trust(failing)


def test_times_of_batches_are_marked():
    row = micro.functions(result(levels=[round_of(batch=50)])).rows[0]
    assert row[5:7] == ("10.0 µs, of batches", "20.0 µs, of batches")


def test_what_is_left_behind_is_a_table_of_its_own():
    each = {
        "candidate": "t.py::test",
        "factors": {"size": "9"},
        "count": 10_000,
        "looks": [],
        "types": [["builtins.list", 1000], ["x", -3]],
        "places": [],
        "growth": 1000,
        "per_operation": 0.1,
        "word": "growth that goes on",
    }
    found = result(leaks=[each])
    assert micro.leaks(found).rows == (
        (
            *("t.py::test [size 9]", "10,000", "+1,000", "0.1", "growth that goes on"),
            "+1,000 builtins.list",
        ),
    )
    assert "growth that goes on in t.py::test [size 9]" in sentence.verdict(found)


def test_page_and_summary_have_the_tables(tmp_path):
    found = result(budgets=[budget("held")])
    shown = view.view(found)
    assert [table["title"]["en"] for table in shown["tables"]] == ["Budgets", "Functions"]
    assert (shown["ladder"], shown["comparison"], shown["diff"]) == (None, None, None)
    assert "| test\\_cache.py::test\\_put | p99 &lt;1ms" in markdown.text(found) or (
        "Budgets" in markdown.text(found)
    )
    (page,) = html.write(found, tmp_path)
    assert "1 function measured" in page.read_text()


def test_each_function_has_a_curve_of_its_own():
    assert distributions.of(result()) == []


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (None, "–"),
        (38e-6, "38 ns"),
        (0.00124, "1.24 µs"),
        (0.0999, "99.9 µs"),
        (0.1, "0.100 ms"),
        (12_300, "12.3 s"),
    ],
)
def test_short_times_have_short_units(milliseconds, text):
    assert show_time(milliseconds) == text
