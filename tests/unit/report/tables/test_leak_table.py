"""What functions leave behind as people read it: what was asked for beside what was found."""

from __future__ import annotations

import pytest

from timed import result
from torr.messages.say import render
from torr.report.files import markdown
from torr.report.tables import leak_table
from torr.report.text import sentence
from torr.report.view import view

LEAK = {
    "candidate": "t.py::test",
    "factors": {"size": "9"},
    "count": 10_000,
    "samples": [],
    "types": [["builtins.list", 1000], ["x", -3]],
    "locations": [],
    "growth": 1000,
    "per_operation": 0.1,
    "traced_per_operation": 1234.56,
    "rss_per_operation": 0.0,
    "word": "growth that goes on",
    "limit": None,
    "met": False,
}
FOUND = ("+1,000", "0.1", "1,234.6", "0.0")
GREW = ("growth that goes on", "+1,000 builtins.list")


def leaking(**more):
    return result(leaks=[{**LEAK, **more}])


@pytest.mark.parametrize(
    ("more", "target", "word"),
    [
        ({}, "growth ends", "missed"),
        ({"limit": 5000, "met": True}, "objects ≤ +5,000", "met"),
        ({"limit": 500}, "objects ≤ +500", "missed"),
    ],
)
def test_the_target_stands_beside_what_was_found(more, target, word):
    rows = leak_table.table(leaking(**more)).rows
    assert rows == (("t.py::test [size 9]", "10,000", target, *FOUND, word, *GREW),)


def test_of_runs_before_targets_and_bytes_were_kept_there_are_none():
    lacking = ("limit", "traced_per_operation", "rss_per_operation")
    older = {key: value for key, value in LEAK.items() if key not in lacking}
    row = leak_table.table(result(leaks=[older])).rows[0]
    assert row[2:8] == ("growth ends", "+1,000", "0.1", "–", "–", "missed")
    assert "growth that goes on in t.py::test [size 9]" in sentence.verdict(result(leaks=[older]))


def test_the_sentence_has_what_failed_alone():
    met = leaking(limit=5000, met=True)
    assert sentence.verdict(met) == "2 functions measured."
    endless = sentence.verdict(leaking())
    assert endless == "2 functions measured; growth that goes on in t.py::test [size 9]."
    beyond = sentence.verdict(leaking(limit=500))
    assert beyond == (
        "2 functions measured; more objects than max_growth allows"
        " (t.py::test [size 9]: +1,000 objects, not +500)."
    )
    assert "对象数超过 max_growth" in render(beyond, "zh")


def test_of_many_that_failed_a_few_are_named():
    leaks = [{**LEAK, "factors": {"size": f"{size}"}} for size in range(5)]
    assert "[size 2] and 2 more." in sentence.verdict(result(leaks=leaks))


def test_page_and_summary_have_the_target():
    found = leaking(limit=500)
    table = next(
        table
        for table in view.view(found)["tables"]
        if isinstance(table["title"], dict) and table["title"]["en"] == "Memory that was not freed"
    )
    assert "target" in [column["en"] for column in table["columns"] if isinstance(column, dict)]
    assert "| objects ≤ +500 | +1,000 |" in markdown.text(found)
