"""Profiles as people read them."""

from __future__ import annotations

import json

import pytest

import typed
from compared import pair
from torr.messages.say import render
from torr.report.files import html, markdown
from torr.report.tables import flame_table
from torr.report.view import view

TAKEN = typed.profile(
    tool="py-spy",
    concurrency=8,
    ok_per_s=90.0,
    cost_rate=12.34,
    unit="samples",
    folded="a;b 60\na;c 39\na;d 1\n",
)


def result(result_kind="run", **more):
    """A result with one profile of these members."""
    levels = [typed.level(concurrency=8)]
    profiles = [typed.changed(TAKEN, **more)]
    return typed.result(kind=result_kind, levels=levels, profiles=profiles)


def test_a_tree_has_callers_above_what_they_call():
    (flame,) = flame_table.flames(result())
    assert flame["title"]["en"] == "Where the time went, by py-spy at 8 connections"
    (a,) = flame["tree"]["below"]
    assert (flame["tree"]["weight"], a["name"]) == (100, "a")
    assert [each["name"] for each in a["below"]] == ["b", "c", "d"]


def test_branches_that_nobody_would_see_are_left_out():
    (flame,) = flame_table.flames(result(folded="a;b 9999\na;c 1\n"))
    assert [each["name"] for each in flame["tree"]["below"][0]["below"]] == ["b"]


def depth_of(node):
    return 1 + max(map(depth_of, node.get("below", ())), default=0)


def test_recursion_of_thousands_of_calls_is_cut_and_keeps_its_weight():
    deep = ";".join(f"f{at}" for at in range(2_000))
    (flame,) = flame_table.flames(result(folded=f"{deep} 90\nf0 10\n"))
    assert depth_of(flame["tree"]) == 202
    node = flame["tree"]
    while "below" in node:
        (node,) = node["below"]
    assert (node["name"], node["weight"]) == ("(deeper)", 90)


def test_a_report_of_recursion_of_thousands_of_calls_is_written(diffed, tmp_path):
    text = f"{';'.join(2_000 * ['f'])} 90\n"
    profiles = [of(side.name, text) for side in diffed.series]
    (page,) = html.write(typed.changed(diffed, profiles=profiles), tmp_path)
    assert page.read_text().count("(deeper)") >= len(profiles)


def test_the_table_has_shares_of_the_whole():
    ((title, table),) = flame_table.top_functions(result())
    assert title == "Functions by time, by py-spy at 8 connections"
    assert table.rows[0] == ("b", "60 %", "60 %")
    assert ("a", "0 %", "100 %") in table.rows


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, "in a separate trial, with 12.34 % fewer ok/s"),
        ({"cost_rate": -19.2}, "in a separate trial, with no fewer ok/s"),
        ({"cost_rate": None}, "the cost of profiling is not known"),
        (
            {"folded": None, "failure": "perf: no", "hint": "be root"},
            "no profile: perf: no (be root)",
        ),
        (
            {"cost_rate": None, "note": "the target ended during the profile"},
            "the cost of profiling is not known; the target ended during the profile",
        ),
        (
            {"folded": None, "failure": "pprof: no", "note": "one: exit code 3"},
            "no profile: pprof: no; one: exit code 3",
        ),
    ],
)
def test_what_it_cost_or_why_there_is_none_is_said(more, said):
    (note,) = flame_table.notes(result(**more))
    assert said in note


def test_titles_say_whose_a_profile_is_at_which_setting_and_of_what():
    ((title, _),) = flame_table.top_functions(result(candidate="gin", factors={"processes": 4}))
    assert title == "Functions by time in gin, by py-spy at 8 connections, processes 4"
    (flame,) = flame_table.flames(result(kind="memory", factors={"connections": 8}))
    assert flame["title"]["en"] == "Where the memory went, by py-spy at 8 connections"


def test_titles_of_functions_tell_the_parameters_of_a_test():
    names = {"candidate": "tests/test_it.py::test_outer", "factors": {"size": 3}}
    ((title, _),) = flame_table.top_functions(result("micro", **names))
    assert title == "Functions by time in test_it.py::test_outer [size 3], by py-spy"


LOGGING = "all;serve;log 40\nall;serve 50\nall;gc 10\n"
BARE = "all;serve 150\nall;gc 20\nall;poll 30\n"


def of(candidate, text, **more):
    given = {"tool": "pprof", "candidate": candidate, "folded": text}
    return typed.changed(TAKEN, **{**given, **more})


def beside(*profiles):
    """A diff of two sides, the baseline `bare` first."""
    series = [{"name": "bare", "points": []}, {"name": "logging", "points": []}]
    return typed.result(kind="diff", series=series, profiles=profiles)


def test_every_node_has_its_share_in_the_baseline():
    before, after = flame_table.flames(beside(of("bare", BARE), of("logging", LOGGING)))
    assert (before["beside"], after["beside"]) == (None, "bare")
    assert "was" not in json.dumps(before["tree"])
    (root,) = after["tree"]["below"]
    serve, gc = root["below"]
    (log,) = serve["below"]
    found = {each["name"]: each["was"] for each in (after["tree"], root, serve, gc, log)}
    assert found == {"all": 1.0, "serve": 0.75, "gc": 0.1, "log": 0.0}


def test_a_function_is_set_beside_itself_in_the_same_place_alone():
    moved = of("logging", "all;gc;serve 1\n")
    (root,) = flame_table.flames(beside(of("bare", BARE), moved))[1]["tree"]["below"]
    (gc,) = root["below"]
    assert (gc["was"], gc["below"][0]["was"]) == (0.1, 0.0)


def test_the_table_begins_with_what_differs_most_and_keeps_what_only_one_side_did():
    (_, before), (title, table) = flame_table.top_functions(
        beside(of("bare", BARE), of("logging", LOGGING))
    )
    assert before.columns == ("function", "self", "total")
    assert title == ("Where time differs: logging beside bare, by pprof at 8 connections")
    assert table.columns[3:] == ("total in bare", "difference")
    assert table.rows == (
        ("log", "40 %", "40 %", "not seen", "+40.0 points"),
        ("serve", "50 %", "90 %", "75 %", "+15.0 points"),
        ("poll", "not seen", "not seen", "15 %", "-15.0 points"),
        ("gc", "10 %", "10 %", "10 %", "+0.0 points"),
        ("all", "0 %", "100 %", "100 %", "+0.0 points"),
    )
    assert render(title, "zh").startswith("哪里更费时、哪里更省时：logging 与 bare 相比（pprof")


@pytest.mark.parametrize(
    "other",
    [
        {"tool": "perf"},
        {"kind": "memory"},
        {"concurrency": 16},
        {"factors": {"processes": 4}},
        {"folded": None, "failure": "perf: no"},
    ],
)
def test_profiles_of_another_kind_or_load_are_not_set_beside_each_other(other):
    found = beside(of("bare", BARE, **other), of("logging", LOGGING))
    assert [each["beside"] for each in flame_table.flames(found)][-1] is None


def test_candidates_are_set_beside_the_baseline_of_their_comparison():
    profiles = [of("go-gin", LOGGING), of("go-net", BARE)]
    shown = view.view(typed.changed(pair(0.88), profiles=profiles))
    assert [each["beside"] for each in shown["flames"]] == ["go-net", None]
    titles = [table["title"] for table in shown["tables"]]
    assert any("go-gin beside go-net" in str(title) for title in titles)


def test_a_diff_shows_its_profiles(diffed):
    names = [side.name for side in diffed.series]
    profiles = [of(name, text) for name, text in zip(names, (BARE, LOGGING), strict=True)]
    shown = view.view(typed.changed(diffed, profiles=profiles))
    assert [each["beside"] for each in shown["flames"]] == [None, names[0]]
    assert [table["title"]["en"] for table in shown["tables"] if table["folded"]] == [
        f"Functions by time in {names[0]}, by pprof at 8 connections",
        f"Where time differs: {names[1]} beside {names[0]}, by pprof at 8 connections",
    ]


def test_a_summary_has_ten_rows_of_each_profile_and_what_it_came_to(run):
    many = "".join(f"main;f{at:02} {99 - at}\n" for at in range(20))
    profiles = [of("a*b", many), of("c", "", failure="perf: no")]
    text = markdown.text(typed.changed(run, profiles=profiles))
    assert "- Where the time went in c, by pprof at 8 connections: no profile: perf: no\n" in text
    _, _, table = text.partition("## Functions by time in a\\*b, by pprof at 8 connections\n\n")
    head, _, *rows = table.partition("\n\n")[0].splitlines()
    assert head == "| function | self | total |"
    assert [row.split()[1] for row in rows] == [f"f{at:02}" for at in range(10)]


def test_the_summary_of_a_diff_has_what_takes_more_and_less(diffed):
    names = [side.name for side in diffed.series]
    profiles = [of(name, text) for name, text in zip(names, (BARE, LOGGING), strict=True)]
    text = markdown.text(typed.changed(diffed, profiles=profiles))
    assert "| log | 40 % | 40 % | not seen | +40.0 points |" in text


def test_without_profiles_there_is_nothing():
    bare = typed.result()
    assert not flame_table.flames(bare)
    assert not list(flame_table.top_functions(bare))
    assert not flame_table.notes(bare)
