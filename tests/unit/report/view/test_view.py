"""What the page is given of each kind of result."""

import re

import pytest
from msgspec.structs import replace

import results
import typed
from compared import compared, rounds
from documents import ROOT
from page import english, titles
from torr.model.condition import Condition
from torr.report.view import distributions, view
from torr.stats.histogram import Histogram
from torr.verdicts.comparison import Procedure


def test_a_ladder_has_its_points_findings_and_limits(ladder):
    found = view.view(ladder)["ladder"]
    assert [point["position"] for point in found["points"]][:3] == [10, 20, 50]
    assert {point["claim"] for point in found["points"]} == {"whole"}
    assert [each["kind"] for each in found["findings"]] == ["peak", "knee", "capacity"]
    assert found["slos"][0] == {
        "text": "p95 < 60ms",
        "metric": "response",
        "stat": "p95",
        "limit": 60.0,
        "unit": "ms",
        "request": None,
    }


def test_limits_are_known_before_anything_was_judged():
    going_on = results.result("run", [], experiment={"slos": ["p99 < 40ms"]})
    (limit,) = view.view(going_on)["slos"]
    assert (limit["text"], limit["limit"]) == ("p99 < 40ms", 40.0)


def test_levels_say_why_they_claim_nothing(limited_ladder):
    found = typed.patched(limited_ladder, levels={0: {"cut_short": True}, 1: {"starved": 10}})
    points = view.view(found)["ladder"]["points"]
    claims = [point["claim"] for point in points]
    assert claims == ["cut", "starved", "whole", "whole", "whole", "whole", "limited", "limited"]


def test_a_diff_has_both_sides_and_the_change_at_each_level(diffed):
    found = view.view(diffed)["diff"]
    assert [side["name"] for side in found["sides"]] == ["bare", "apiserver"]
    changes = [change for change in found["changes"] if change["metric"] == "ok_per_s"]
    assert [change["position"] for change in changes] == [10, 20, 50, 100, 200, 400, 800, 1600]
    low, high = found["margin"]
    assert low * high == pytest.approx(1)


def test_only_its_own_kind_has_a_chart(run):
    found = view.view(run)
    assert (found["ladder"], found["comparison"], found["diff"]) == (None, None, None)


def test_tables_of_a_run_stand_below_the_chart_or_are_folded(run):
    assert titles(run, is_folded=False) == ["Times of ok responses", "Throughput"]
    assert titles(run, is_folded=True) == ["Errors", "Status codes", "How each level was judged"]


def test_every_row_has_a_cell_for_every_column(run, ladder, diffed, streamed, streamed_ladder):
    calls = (results.called(), results.called_ladder())
    for result in (run, ladder, diffed, streamed, streamed_ladder, *calls):
        for table in view.view(result)["tables"]:
            assert {len(row) for row in table["rows"]} == {len(table["columns"])}


def test_reasons_say_where_they_were_seen(limited_ladder):
    (found,) = view.view(limited_ladder)["lists"]
    assert english(found["items"][0]) == "10 connections, round 1: run-queue wait 14 %"
    assert found["folded"]


def test_an_empty_result_has_a_view(make_result):
    found = view.view(make_result("ladder", [], status="failed"))
    assert english(found["sentence"]) == "Nothing was measured."
    assert [english(table["title"]) for table in found["tables"]] == ["Capacity"]
    assert found["lists"] == found["distributions"] == []
    assert found["ladder"] is None


def test_a_level_without_intervals_and_details_has_a_view(make_result):
    times = {"service_ms": {"n": 3, "mean": 1.0}}
    counts = {"attempted": 3, "ok": 3}
    level = typed.level(concurrency=5, counts=counts, ok_per_s=3.0, latency=times)
    assert english(view.view(make_result("run", [level]))["sentence"]).startswith(
        "Answers 3 requests/s"
    )


def test_intervals_of_streams_have_percentiles_of_their_pools(streamed):
    pooled = view.view(streamed)["pooled"]["0"]
    intervals = streamed.levels[0].intervals
    shown = zip(intervals, pooled["ttft"], strict=True)
    of_window = [each["p50"] for piece, each in shown if piece.phase == "measure"]
    assert of_window
    assert all(of_window)


def test_charts_of_calls_are_of_messages(called, called_ladder):
    found = view.view(called)
    assert list(found["pooled"]["0"]) == ["ttfe", "message", "response"]
    assert all(each["p50"] for each in found["pooled"]["0"]["message"])
    curves = {curve["metric"]: curve["of_streams"] for curve in found["distributions"]}
    assert curves == {"ttfe": True, "inter_chunk": True, "message": True, "response": False}
    ladder = view.view(called_ladder)["ladder"]
    panels = [panel["metric"] for panel in ladder["stream_panels"]]
    assert panels == ["ttfe", "inter_chunk", "message", "goodput"]
    assert {name.partition(" ")[0] for name in ladder["points"][0]["stream"]} == {
        *("ttfe", "inter_chunk", "message", "goodput")
    }


def test_charts_of_chats_are_of_texts(streamed, streamed_ladder):
    found = view.view(streamed)
    assert list(found["pooled"]["0"]) == ["ttft", "tpot", "response"]
    curves = {curve["metric"]: curve["of_streams"] for curve in found["distributions"]}
    assert curves == {"ttft": True, "inter_chunk": True, "response": False}
    ladder = view.view(streamed_ladder)["ladder"]
    assert [(panel["metric"], *panel["statistics"]) for panel in ladder["stream_panels"]] == [
        ("ttft", "ttft p95", "ttft p50"),
        ("inter_chunk", "inter_chunk p95", "inter_chunk p50"),
        ("tokens/s", "tokens/s"),
        ("goodput", "goodput"),
    ]


def test_names_in_charts_are_in_each_language(ladder):
    findings = view.view(ladder)["ladder"]["findings"]
    assert findings
    assert all(finding["words"].keys() == {"en", "zh"} for finding in findings)
    texts = ladder.levels[0].histograms
    levels = rounds({"go-net": 90, "go-gin": 99}, {"connections": 50}, histograms=texts)
    cells = [curve["cell"] for curve in distributions.of(compared(levels))]
    assert cells
    assert all(cell.keys() == {"en", "zh"} for cell in cells)


def test_curves_end_at_the_last_percentile_that_is_carried(streamed):
    curves = {curve["metric"]: curve for curve in distributions.of(streamed)}
    stats = streamed.levels[0].stream.ttft_ms
    first = curves["ttft"]
    assert first["n"] == stats.n
    assert first["points"][0][0] == 0
    assert first["points"][-1][0] <= 1 - 10 / first["n"]
    known = dict(first["points"])
    assert known[0.5] == pytest.approx(stats.p50, rel=1e-3)
    assert known[0.95] == pytest.approx(stats.p95, rel=1e-3)
    values = [value for _, value in first["points"]]
    assert values == sorted(values)


def test_curves_of_rounds_are_of_all_of_them_together(make_level, make_result):
    levels = [make_level(5, 100.0, mean, round=at) for at, mean in enumerate((1.0, 9.0), 1)]
    (curve,) = [c for c in distributions.of(make_result("run", levels)) if c["metric"] == "service"]
    both = [Histogram.read(level.histograms["service"]) for level in levels]
    assert curve["n"] == sum(histogram.total() for histogram in both)
    assert dict(curve["points"])[0.9] == pytest.approx(Histogram.sum(both).at(0.9))


@pytest.mark.parametrize("kind", ["run", "ladder"])
def test_curves_are_of_the_rounds_that_claim_something(make_level, make_result, kind):
    levels = [make_level(5, 100.0, mean, round=at) for at, mean in enumerate((1.0, 9.0), 1)]
    levels[1] = make_level(5, 100.0, 9.0, round=2, verdict="generator-limited")
    result = make_result(kind, levels)
    (curve,) = [c for c in distributions.of(result) if c["metric"] == "service"]
    assert curve["n"] == Histogram.read(levels[0].histograms["service"]).total()


def test_curves_of_candidates_are_without_discarded_rounds(make_level):
    texts = {"response": make_level(5, 100.0, 1.0).histograms["service"]}
    levels = rounds({"go-net": 12_000, "go-gin": 10_000}, {"connections": 500})
    levels = [typed.changed(level, histograms=texts) for level in levels]
    counts = {"attempted": 2000, "ok": 1000, "errors": {"read": 1000}}
    reasons = {"read.reset": 1000}
    levels[5] = typed.changed(levels[5], success_rate=50.0, counts=counts, reasons=reasons)
    result = compared(levels, procedure=Procedure(rule=Condition.parse("success < 99%")))
    n = 9 * Histogram.read(texts["response"]).total()
    assert [curve["n"] for curve in distributions.of(result)] == [n, n]


def test_too_few_values_for_a_median_are_no_curve(make_level, make_result):
    assert distributions.of(make_result("run", [make_level(1, 1.9, 1.0, seconds=10.0)])) == []


def test_titles_are_said_in_both_languages(run, ladder, diffed, streamed, streamed_ladder):
    for result in (run, ladder, diffed, streamed, streamed_ladder):
        found = view.view(result)
        for each in (*found["tables"], *found["lists"]):
            assert set(each["title"]) == {"en", "zh"}, each["title"]


def repeated(result, times):
    """Return a result whose one level has its intervals several times."""
    (level,) = result.levels
    return replace(result, levels=[replace(level, intervals=level.intervals * times)])


MODEL = ROOT / "web/src/model.ts"


def test_a_page_of_many_intervals_has_of_them_what_charts_are_drawn_from(streamed):
    many = repeated(streamed, 20)
    whole, short = (
        view.run(each)["result"]["levels"][0]["intervals"][0] for each in (streamed, many)
    )
    read = re.search(r"interface Interval \{(.*?)\n\}", MODEL.read_text(), re.DOTALL)[1]
    drawn = set(re.findall(r"^  (\w+)\??:", read, re.MULTILINE))
    assert drawn & set(whole) <= set(short)
    assert set(short["latency"]["response_ms"]) < set(whole["latency"]["response_ms"])
    assert short["counts"] == whole["counts"]
    assert "histograms" not in short


def test_a_page_of_many_intervals_has_the_nodes_of_each(streamed):
    many = repeated(streamed, 20)
    nodes = [{"name": "a", "attempted": 3, "ok": 2, "ok_per_s": 2.0}]
    level = many.levels[0]
    pieces = [typed.changed(piece, nodes=nodes) for piece in level.intervals]
    many = replace(many, levels=[replace(level, intervals=pieces)])
    (first, *_) = view.run(many)["result"]["levels"][0]["intervals"]
    assert first["nodes"][0]["ok_per_s"] == 2.0


def test_a_page_of_very_many_intervals_has_none_and_says_where_they_are(streamed, monkeypatch):
    monkeypatch.setattr(view, "MOST_DRAWN", 1_500)
    intervals = len(streamed.levels[0].intervals)
    times = view.MOST_DRAWN // intervals + 1
    found = view.run(repeated(streamed, times))
    assert found["result"]["levels"][0]["intervals"] == []
    (said,) = found["view"]["lists"][-1]["items"]
    count = times * intervals
    assert english(said) == f"{count:,} intervals, too many for a page, are in intervals.jsonl"
    title = english(found["view"]["lists"][-1]["title"])
    assert title not in [english(each["title"]) for each in view.view(streamed)["lists"]]
