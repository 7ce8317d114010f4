"""Target and machine in the report: numbers as tables, CPU over time as a picture."""

from __future__ import annotations

import csv
import io

import pytest

from torr.report import csv as levels_csv
from torr.report import html, markdown, theme, watched, watched_figure


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
    run["levels"][0]["monitor"] = monitor()
    return run


def test_a_level_says_what_the_target_used_and_which_side_was_the_limit(watched_run):
    table = watched.watched(watched_run)
    assert table.rows == (
        (
            *("50", "98.7 %", "12.3 µs", "81,037", "3 MiB", "41 %", "99.5 %", "target"),
            "one thread of the target filled a core (99 %)",
        ),
    )
    assert "## Target and machine" in markdown.text(watched_run)


def test_rounds_are_their_median_and_every_word(make_level, make_result):
    levels = [make_level(5, 100.0, 1.0) for _ in range(3)]
    for level, rate, word in zip(
        levels, (10.0, 30.0, 90.0), ("neither", "target", None), strict=True
    ):
        level["monitor"] = monitor(target_cpu_rate=rate, limit=word, limit_reason=f"why {word}")
    [row] = watched.watched(make_result("ladder", levels)).rows
    assert row[1] == "30 %"
    assert row[-2:] == ("neither, target, –", "why neither; why target; why None")


def test_without_a_target_its_cells_are_dashes(run):
    unknown = ("target_cpu_rate", "target_cpu_us_per_request", "requests_per_cpu_s")
    run["levels"][0]["monitor"] = monitor(**dict.fromkeys(unknown), target_rss_max_bytes=None)
    assert watched.watched(run).rows[0][1:5] == ("–", "–", "–", "–")
    assert watched.facts(run["levels"][0]) == {}


def test_a_terminal_has_a_line_on_the_target_and_one_on_the_limit(watched_run):
    assert watched.facts(watched_run["levels"][0]) == {
        "target": "98.7 % of a core · 12.3 µs a request · 3 MiB resident",
        "limit": "target: one thread of the target filled a core (99 %)",
    }


def test_what_endpoints_told_is_a_table(watched_run):
    assert watched.told(watched_run).rows == (("queue a=<b>", "a second", "3", "5"),)


@pytest.mark.parametrize("seen", [None, {}, {"derived": {}}])
def test_results_that_were_not_watched_have_neither_table_nor_picture(run, seen):
    run["levels"][0]["monitor"] = seen
    assert watched.watched(run) is None
    assert watched.told(run) is None
    assert watched_figure.cpu(run["levels"]) is None
    assert "Target and machine" not in markdown.text(run)


def test_the_page_has_all_of_it_and_escapes_what_others_said(watched_run):
    page = html.page(watched_run)
    assert "<h2>Target and machine</h2>" in page
    assert "<summary>CPU over time</summary>" in page
    assert "queue a=&lt;b&gt;" in page
    assert "&quot;monitor&quot;: {&quot;t_s&quot;: [-1.0, 0.0, 1.0, 2.0]," in page


def test_of_many_looks_and_cores_few_are_drawn(make_level):
    level = {**make_level(5, 100.0, 1.0), "monitor": monitor(1100, 64)}
    with theme.style():
        figure = watched_figure.cpu([level, level])
        lines, cores = figure.axes
        assert len(cores.get_yticks()) == watched_figure.MOST_CORES
        boxes = sum(len(each.get_paths()) for each in cores.collections)
        assert boxes <= watched_figure.MOST_CORES * watched_figure.MOST_STEPS
        assert lines.get_xlim() == (-1.0, pytest.approx(2199.0))


def test_the_table_of_levels_has_what_follows_and_not_what_was_seen(watched_run):
    text = levels_csv.text(levels_csv.rows_of(watched_run))
    [row] = csv.DictReader(io.StringIO(text))
    assert row["monitor.derived.target_cpu_us_per_request"] == "12.34"
    assert not [name for name in row if name.startswith("monitor.") and ".derived." not in name]
