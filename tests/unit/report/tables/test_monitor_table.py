"""Target and machine in the report: numbers as tables, CPU over time as a picture."""

from __future__ import annotations

import csv
import io

import pytest

import typed
from page import Page, english, titles
from torr.report.files import csv as levels_csv
from torr.report.files import html, markdown
from torr.report.tables import monitor_table


def monitor(count=4, cores=2, **derived):
    busy = [[10.0 * at % 101 for at in range(count)] for _ in range(cores)]
    found = {
        "target_cpu_rate": 98.7,
        "target_cpu_us_per_request": 12.34,
        "requests_per_cpu_s": 81_037.0,
        "target_rss_max_bytes": 3 * 1024 * 1024,
        "generator_cpu_rate": 41.0,
        "core_busy_rate": [99.5, 60.0],
        "limit": "target",
        "limit_reason": "one thread of the target filled a core (99 %)",
    }
    series = {"name": "queue", "labels": {"a": "<b>"}, "kind": "counter", "values": [1.0, None, 5]}
    return {
        "t_s": [float(at - 1) for at in range(count)],
        "seconds": [1.0] * count,
        "cores": {"numbers": list(range(cores)), "busy_rate": busy},
        "target": {"cpu_rate": [90.0] * (count - 1) + [None]},
        "generator": {"cpu_rate": [40.0] * count},
        "endpoints": [{"url": "http://x/metrics", "t_s": [0.0], "series": [series]}],
        "derived": {**found, **derived},
        "cost_rate": 0.2,
    }


@pytest.fixture
def watched_run(run):
    return typed.patched(run, levels={0: {"monitor": monitor()}})


def test_a_level_says_what_the_target_used_and_which_side_was_the_limit(watched_run):
    table = monitor_table.of_levels(watched_run)
    assert table.rows == (
        (
            *("50", "98.7 %", "12.3 µs", "81,037", "3 MiB", "41 %", "99.5 %", "target"),
            "one thread of the target filled a core (99 %)",
        ),
    )
    assert "## Target and machine" in markdown.text(watched_run)


def test_rounds_are_their_median_and_every_word(make_level, make_result):
    usages = ((10.0, "neither"), (30.0, "target"), (90.0, None))
    seen = [monitor(target_cpu_rate=r, limit=w, limit_reason=f"why {w}") for r, w in usages]
    levels = [make_level(5, 100.0, 1.0, monitor=each) for each in seen]
    [row] = monitor_table.of_levels(make_result("ladder", levels)).rows
    assert row[1] == "30 %"
    assert row[-2:] == ("neither, target, –", "why neither; why target; why None")


def test_without_a_target_its_cells_are_dashes(run):
    unknown = ("target_cpu_rate", "target_cpu_us_per_request", "requests_per_cpu_s")
    seen = monitor(**dict.fromkeys(unknown), target_rss_max_bytes=None)
    run = typed.patched(run, levels={0: {"monitor": seen}})
    assert monitor_table.of_levels(run).rows[0][1:5] == ("–", "–", "–", "–")
    assert monitor_table.facts(run.levels[0]) == {}


def test_a_terminal_has_a_line_on_the_target_and_one_on_the_limit(watched_run):
    assert monitor_table.facts(watched_run.levels[0]) == {
        "target": "98.7 % of a core · 12.3 µs a request · 3 MiB resident",
        "limit": "target: one thread of the target filled a core (99 %)",
    }


def test_what_endpoints_told_is_a_table(watched_run):
    assert monitor_table.of_endpoints(watched_run).rows == (
        ("queue a=<b>", "per second", "3", "5"),
    )


@pytest.mark.parametrize("seen", [None, {"derived": None}, {"derived": {}}])
def test_results_that_were_not_watched_have_no_table(run, seen):
    run = typed.patched(run, levels={0: {"monitor": seen}})
    assert monitor_table.of_levels(run) is None
    assert monitor_table.of_endpoints(run) is None
    assert "Target and machine" not in markdown.text(run)


def test_the_page_has_all_of_it_as_it_was_told(watched_run):
    assert "Target and machine" in titles(watched_run, is_folded=False)
    given = Page(html.page(watched_run)).data["run"]
    (told,) = [t for t in given["view"]["tables"] if english(t["title"]) == "Metrics of endpoints"]
    assert told["rows"][0][0] == "queue a=<b>"
    assert given["result"]["levels"][0]["monitor"]["t_s"] == [-1.0, 0.0, 1.0, 2.0]


def test_the_table_of_levels_has_what_follows_and_not_what_was_seen(watched_run):
    text = levels_csv.text(levels_csv.rows_of(watched_run))
    [row] = csv.DictReader(io.StringIO(text))
    assert row["monitor.derived.target_cpu_us_per_request"] == "12.34"
    assert not [name for name in row if name.startswith("monitor.") and ".derived." not in name]
