"""Functions under load as people read them."""

from __future__ import annotations

import pytest

import typed
from results import histograms
from timed import budget, result, round_of
from torr.messages.say import render
from torr.report.files import html, markdown
from torr.report.tables import function_tables
from torr.report.text import sentence, trust
from torr.report.view import distributions, view
from torr.units import show_time


def test_without_budgets_the_functions_are_counted():
    assert sentence.verdict(result()) == "1 function measured."


def test_budgets_are_met_missed_or_not_shown():
    budgets = [budget("held"), budget("broken", "ops >1M/s"), budget("not shown", reason="why")]
    found = result(budgets=budgets)
    assert sentence.verdict(found) == (
        "1 function measured; 1 of 3 budgets met; 1 missed (test_cache.py::test_put: ops >1M/s);"
        " 1 not shown."
    )
    assert render(sentence.verdict(found), "zh") == (
        "测了 1 个函数；3 项预算中 1 项达标；1 项未达标（test_cache.py::test_put：ops >1M/s）；"
        "1 项未能证明。"
    )
    rows = function_tables.budgets(found).rows
    assert rows[0] == (
        *("test_cache.py::test_put", "p99 <1ms", "20.0 µs", "19.0 µs – 21.0 µs", "met"),
    )
    assert rows[2][-1] == "not shown: why"


def test_what_a_scaled_budget_is_here_is_said():
    found = result(budgets=[budget("held", limit=0.5, scaled_by=2.0)])
    assert function_tables.budgets(found).rows[0][1] == "p99 <1ms, here 0.500 ms"


def test_the_trust_line_says_what_the_numbers_stand_on():
    assert trust.trust(result()) == (
        "rounds of each: 6 · spread of rounds up to 1.81 % · speed of this machine 1.38"
        " · subtracted from every time: 40 ns for the clock"
        " · Python's garbage collector on in rounds."
    )
    failing = result(levels=[round_of(failed=3)])
    assert "1 function raised errors" in trust.trust(failing)


def test_the_trust_line_says_what_was_taken_off_and_whether_the_collector_ran():
    timing = {"batch": 50, "clock_ns": 40, "turn_ns": 5, "gc": "off in rounds", "threads": 1}
    off = typed.changed(round_of("t.py::other"), micro=timing)
    both = trust.trust(result(levels=[round_of(), off]))
    assert "subtracted from every time: 40 ns for the clock, 5.0 ns a turn in batches" in both
    assert "collector on in rounds of 1 of the functions, off in those of 1." in both
    assert "在 1 个函数的各轮中开启" in render(both, "zh")
    assert trust.trust(result(levels=[off])).endswith("Python's garbage collector off in rounds.")


def test_what_another_tool_kept_nothing_of_is_not_in_the_trust_line():
    timing = {"batch": 1, "clock_ns": 0, "turn_ns": 0, "gc": "unknown", "threads": 1}
    levels = [typed.changed(round_of(), micro=timing)]
    assert trust.trust(result(levels=levels)).endswith("speed of this machine 1.38.")


def test_times_of_batches_are_marked():
    row = function_tables.functions(result(levels=[round_of(batch=50)])).rows[0]
    assert row[5:7] == ("10.0 µs, of batches", "20.0 µs, of batches")


TWINS = (
    ("a/test_x.py::test", "b/test_x.py::test"),
    ("test_x.py::test::json/loads", "test_x.py::test::orjson/loads"),
)


@pytest.mark.parametrize("twins", TWINS)
def test_functions_of_like_names_are_not_one(twins):
    levels = [round_of(name, rate=rate) for name, rate in zip(twins, (1e5, 9e5), strict=True)]
    rows = function_tables.functions(result(levels=levels)).rows
    assert [row[:4] for row in rows] == [
        (twins[0], "1", "1", "100,000"),
        (twins[1], "1", "1", "900,000"),
    ]
    budgets = function_tables.budgets(
        result(levels=levels, budgets=[budget("held", candidate=twins[1])])
    )
    assert budgets.rows[0][0] == twins[1]


def test_a_file_is_called_without_its_directories_while_none_has_its_name():
    files = ("a/test_x.py", "b/test_x.py", "c/test_y.py")
    levels = [round_of(f"{path}::test::json/loads") for path in files]
    rows = function_tables.functions(result(levels=levels)).rows
    shown = (*files[:2], "test_y.py")
    assert [row[0] for row in rows] == [f"{path}::test::json/loads" for path in shown]


def test_parameters_and_threads_tell_rounds_apart():
    one = round_of()
    levels = [one, typed.changed(one, factors={"size": "9"}), typed.changed(one, concurrency=4)]
    rows = function_tables.functions(result(levels=levels)).rows
    put = "test_cache.py::test_put"
    assert [row[:3] for row in rows] == [
        *((put, "1", "1"), (f"{put} [size 9]", "1", "1"), (put, "4", "1"))
    ]


def test_page_and_summary_have_the_tables(tmp_path):
    found = result(budgets=[budget("held")])
    shown = view.view(found)
    assert [table["title"]["en"] for table in shown["tables"]] == ["Budgets", "Functions"]
    assert (shown["ladder"], shown["comparison"], shown["diff"]) == (None, None, None)
    text = markdown.text(found)
    assert "| test_cache.py::test_put | p99 \\<1ms | 20.0 µs | 19.0 µs – 21.0 µs | met |" in text
    assert "| test_cache.py::test_put | 1 | 6 |" in text
    (page,) = html.write(found, tmp_path)
    assert "1 function measured" in page.read_text()


def test_each_function_has_a_curve_of_its_own():
    levels = [round_of(name, number) for name in ("put", "get") for number in (1, 2)]
    measured = [typed.changed(level, histograms=histograms(5.0, 100)) for level in levels]
    curves = distributions.of(result(levels=measured))
    found = [(curve["candidate"], curve["metric"], curve["n"]) for curve in curves]
    assert found == [("put", "response", 200), ("get", "response", 200)]
    assert distributions.of(result(levels=levels)) == []


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (None, "–"),
        (38e-6, "38.0 ns"),
        (0.00124, "1.24 µs"),
        (0.0999, "99.9 µs"),
        (0.1, "0.100 ms"),
        (12_300, "12.3 s"),
    ],
)
def test_short_times_have_short_units(milliseconds, text):
    assert show_time(milliseconds) == text
