"""Profiles as people read them."""

from __future__ import annotations

import pytest

from torr.report import flames

TAKEN = {
    "tool": "py-spy",
    "concurrency": 8,
    "seconds": 10,
    "ok_per_s": 90.0,
    "cost_rate": 12.34,
    "unit": "samples",
    "folded": "a;b 60\na;c 39\na;d 1\n",
    "failure": None,
    "hint": None,
}


def result(**more):
    return {"levels": [{"concurrency": 8}], "profiles": [{**TAKEN, **more}]}


def test_a_tree_has_callers_above_what_they_call():
    (flame,) = flames.flames(result())
    assert flame["title"]["en"] == "Where the time went, by py-spy at 8 connections"
    (a,) = flame["tree"]["below"]
    assert (flame["tree"]["weight"], a["name"]) == (100, "a")
    assert [each["name"] for each in a["below"]] == ["b", "c", "d"]


def test_branches_that_nobody_would_see_are_left_out():
    (flame,) = flames.flames(result(folded="a;b 9999\na;c 1\n"))
    assert [each["name"] for each in flame["tree"]["below"][0]["below"]] == ["b"]


def test_the_table_has_shares_of_the_whole():
    ((_, table),) = flames.tops(result())
    assert table.rows[:2] == (("a", "0 %", "100 %"), ("b", "60 %", "60 %"))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, "in a trial of its own, with 12.34 % less ok/s"),
        ({"cost_rate": None}, "whose cost is not known"),
        (
            {"folded": None, "failure": "perf: no", "hint": "be root"},
            "no profile: perf: no (be root)",
        ),
    ],
)
def test_what_it_cost_or_why_there_is_none_is_said(more, said):
    (note,) = flames.notes(result(**more))
    assert said in note


def test_without_profiles_there_is_nothing():
    assert (flames.flames({}), list(flames.tops({})), flames.notes({})) == ([], [], [])
