"""LLM servers and GPUs in page, summary, terminal and table of levels."""

from __future__ import annotations

import csv
import io

import pytest
from rich.console import Console

import compared
import served
import typed
from page import english, titles
from torr.cli.display import serving
from torr.cli.display.comparison import show as show_comparison
from torr.cli.screen import Screen
from torr.messages.message import message
from torr.report.data.comparison import Comparison
from torr.report.files import csv as levels_csv
from torr.report.files import markdown
from torr.report.tables import serving_table
from torr.report.view import view, view_ladder
from torr.results.serving import AfterGivingUp


@pytest.fixture(scope="module")
def ladder():
    return served.ladder(24, 40, 80)


def test_a_level_has_a_row_with_the_servers_numbers_and_the_clients_ttft(ladder):
    table = serving_table.of_levels(ladder)
    assert table.columns == (
        *("users", "running (max)", "waiting (max)", "KV cache (max)", "preempted", "prefix hits"),
        *("server queue", "ttft of server", "ttft of client", "tokens/s at server", "GPU in use"),
        *("GPU memory max", "power", "tokens/J"),
    )
    row = dict(zip(table.columns, table.rows[1], strict=True))
    client = row.pop("ttft of client")
    assert client.endswith(" ms")
    assert row == {
        "users": "40",
        "running (max)": "24 (24)",
        "waiting (max)": "16 (18)",
        "KV cache (max)": "99 % (100 %)",
        "preempted": "4",
        "prefix hits": "36.2 %",
        "server queue": "403 ms",
        "ttft of server": "680 ms",
        "tokens/s at server": "1,560",
        "GPU in use": "98 %",
        "GPU memory max": "70 GiB",
        "power": "580 W",
        "tokens/J": "2.69",
    }


def test_numbers_that_no_server_reports_have_no_column():
    levels = [typed.level(concurrency=5, counts={"attempted": 1}, monitor=known(waiting_mean=3.0))]
    found = serving_table.of_levels(served.results.result("ladder", levels))
    assert (found.columns, found.rows) == (("connections", "waiting (max)"), (("5", "3 (–)"),))


def known(**usage):
    return {"serving": {"derived": usage}}


def test_rounds_are_their_median_without_those_that_claim_nothing():
    def level(waiting, **more):
        made = {
            "concurrency": 5,
            "counts": {"attempted": 1},
            "monitor": known(waiting_mean=waiting),
        }
        return typed.level(**{**made, **more})

    limited = {"verdict": "generator-limited"}
    levels = [level(1.0), level(2.0), level(9.0), level(99.0, health=limited)]
    (row,) = serving_table.serving_rows(levels)
    assert row.usage.waiting_mean == 2.0


def test_results_without_named_servers_have_neither_table_nor_charts(run, make_result):
    assert serving_table.of_levels(run) is None
    assert serving_table.facts(run.levels[0]) == {}
    assert "LLM" not in markdown.text(run)
    ladder = make_result("ladder", run.levels)
    assert "serving" not in view_ladder.ladder(ladder)


def test_a_summary_has_the_table_and_the_causes(ladder):
    text = markdown.text(ladder)
    assert "## LLM servers and GPUs" in text
    assert "## Causes that the LLM server's numbers show" in text
    assert "- TTFT rises from 40 users on because requests queue: 16 waiting" in text
    assert "LLM 服务器和 GPU" in markdown.text(ladder, "zh")


def test_a_page_has_the_table_and_the_causes(ladder):
    assert "LLM servers and GPUs" in titles(ladder, is_folded=False)
    lists = {english(each["title"]): each for each in view.view(ladder)["lists"]}
    causes = lists["Causes that the LLM server's numbers show"]
    assert not causes["folded"]
    assert english(causes["items"][0]).startswith("TTFT rises from 40 users on")
    assert causes["items"][0]["zh"].startswith("从 40 个用户起 TTFT 上升")


def test_a_ladder_has_charts_of_the_numbers_with_a_value_at_each_level(ladder):
    panels = view_ladder.ladder(ladder)["serving"]
    assert [(english(panel["title"]), panel["unit"]) for panel in panels] == [
        ("Requests at the LLM server", "rate"),
        ("Caches of the LLM server, %", "percent"),
        ("Mean ttft of client and server, and time in the server's queue, ms", "ms"),
        ("Generated tokens per joule", "rate"),
    ]
    lines = {english(line["label"]): line["values"] for panel in panels for line in panel["lines"]}
    assert lines["waiting"] == [0.0, 16.0, 56.0]
    assert lines["server queue"] == [3.0, 403.0, 1403.0]
    assert lines["ttft of client"] == [level.stream.ttft_ms.mean for level in ladder.levels]


def test_levels_that_were_not_monitored_leave_a_gap_in_the_charts(ladder):
    partial = typed.patched(ladder, levels={1: {"monitor": None}})
    panels = view_ladder.ladder(partial)["serving"]
    assert panels[0]["lines"][0]["values"] == [0.0, None, 56.0]


def comparison(**factors):
    """Return a comparison of which one candidate has more hits the more rounds it has had."""
    numbers = {"running_mean": 2.0, "running_max": 4.0, "waiting_mean": 0.5, "tokens_per_j": 2.5}
    levels = [
        compared.trial(
            name,
            setting,
            number,
            1000,
            monitor=known(**numbers, prefix_hit_rate=hits * number, kv_cache_mean_rate=40.0),
        )
        for setting in compared.cells(factors)
        for number in (1, 2, 3)
        for name, hits in (("plain", 0.0), ("cached", 20.0))
    ]
    return compared.compared(levels, baseline="plain", factors=factors)


def test_each_candidate_of_a_comparison_has_a_row_with_the_medians_of_its_trials():
    result = comparison()
    table = serving_table.of_comparison(Comparison.of(result))
    heads = ("candidate", "running (max)", "waiting (max)", "KV cache (max)", "prefix hits")
    assert table.columns == (*heads, "tokens/J")
    assert table.rows == (
        ("plain", "2 (4)", "0.5 (–)", "40 % (–)", "0 %", "2.5"),
        ("cached", "2 (4)", "0.5 (–)", "40 % (–)", "40 %", "2.5"),
    )
    assert "LLM servers and GPUs" in titles(result, is_folded=False)
    assert "| cached | 2 (4) | 0.5 (–) | 40 % (–) | 40 % | 2.5 |" in markdown.text(result)


def test_a_comparison_of_several_cells_names_the_cell():
    table = serving_table.of_comparison(Comparison.of(comparison(connections=[5, 10])))
    assert [row[:2] for row in table.rows] == [
        ("5 connections", "plain"),
        ("5 connections", "cached"),
        ("10 connections", "plain"),
        ("10 connections", "cached"),
    ]


def test_a_terminal_has_the_table_of_a_comparison():
    out = io.StringIO()
    show_comparison(comparison(), Screen(Console(file=out, width=120, soft_wrap=True)))
    lines = [line.split() for line in out.getvalue().splitlines()]
    assert ["cached", "2", "(4)", "0.5", "(–)", "40", "%", "(–)", "40", "%", "2.5"] in lines


def test_a_comparison_without_named_servers_has_no_such_table():
    assert serving_table.of_comparison(Comparison.of(compared.pair(1.1))) is None


def test_a_terminal_has_a_line_for_each_kind_of_number():
    facts = serving_table.facts(served.level(40))
    client = facts["its times"].partition("client: ")[2]
    assert {str(name): str(text) for name, text in facts.items()} == {
        "LLM server": "24 requests running (at most 24) · 16 waiting (at most 18) · 4 preempted",
        "its cache": (
            "99 % of the KV cache in use (at most 100 %) · 36.2 % of the prompts' tokens in the"
            " prefix cache"
        ),
        "its times": f"403 ms in the queue · ttft 680 ms on average (client: {client}",
        "its tokens": "1,560/s generated · 4,300/s of prompts · 2.69 generated per joule",
        "GPU": "98 % of the time in use · 580 W · at most 70 GiB of memory",
    }


def test_the_table_of_levels_has_the_numbers_and_not_the_series(ladder):
    text = levels_csv.text(levels_csv.rows_of(ladder))
    row = list(csv.DictReader(io.StringIO(text)))[1]
    assert row["monitor.serving.waiting_mean"] == "16.0"
    assert not [name for name in row if "sources" in name]


def test_how_long_cancelled_requests_occupy_the_server_is_said_everywhere():
    said = "After a user gives up, the request occupies the server for 480 ms on average"
    level = typed.level(concurrency=20, counts={"attempted": 900, "cancelled": 90})
    estimate = AfterGivingUp(
        concurrency=20,
        cancelled=90.0,
        text=message(
            "giving_up.occupied",
            "After a user gives up, the request occupies the server for {time} on average"
            " ({low} to {high})",
            time="480 ms",
            low="440 ms",
            high="520 ms",
        ),
    )
    found = served.results.result("run", [level], after_giving_up=[estimate])
    assert serving.causes(found) == {"giving up": f"{said} (440 ms to 520 ms)"}
    assert f"## Users who gave up\n\n- {said}" in markdown.text(found)
    lists = {english(each["title"]): each for each in view.view(found)["lists"]}
    assert lists["Users who gave up"]["items"][0]["zh"].startswith("用户放弃后")
