import pytest
from msgspec import UNSET

import torr.report
import typed
from streamed import histogram, stats, streaming
from torr.report.data.pooled import pooled
from torr.report.figures import stream_figure, theme
from torr.report.text import sentence
from torr.report.view import distributions, view_ladder
from torr.report.view.view_ladder import LadderChart
from torr.stats.series import Series
from torr.verdicts import diff


def texts(figure):
    figure.draw_without_rendering()
    return [text.get_text() for text in figure.findobj(lambda a: hasattr(a, "get_text"))]


def draw(make):
    with theme.style():
        return make()


def titles(figure):
    return [ax.get_title(loc="left") for ax in figure.axes]


def piece(values_ns, phase="measure"):
    histograms = {"ttft": histogram(values_ns)} if values_ns else {}
    return typed.interval(phase=phase, stream={"ttft_ms": stats(values_ns)}, histograms=histograms)


def test_intervals_are_pooled_until_they_carry_a_percentile():
    intervals = [piece([n * 10**6] * 7) for n in (1, 2, 3, 40, 50, 60, 70)]
    found = [p["p50"] for p in pooled(intervals, "ttft")]
    # Three of seven carry a median; the seventh, that no others follow, joins the pool before it.
    assert found[:3] == pytest.approx([2, 2, 2], rel=1e-3)
    assert found[3:] == pytest.approx([50, 50, 50, 50], rel=1e-3)
    assert [p.get("p95") for p in pooled(intervals, "ttft")] == [None] * 7


def test_the_window_is_not_pooled_with_what_came_before_and_after_it():
    slow, fast = [90 * 10**6] * 15, [5 * 10**6] * 15
    phases = ["warmup"] * 3 + ["measure"] * 3 + ["drain"]
    intervals = [piece(slow if phase != "measure" else fast, phase) for phase in phases]
    found = [p.get("p50") for p in pooled(intervals, "ttft")]
    assert found == [*[pytest.approx(90, rel=1e-3)] * 3, *[pytest.approx(5, rel=1e-3)] * 3, None]


def test_an_interval_that_carries_a_percentile_is_not_pooled():
    intervals = [piece([n * 10**6] * 20) for n in (1, 2)] + [piece([])]
    assert [p["p50"] for p in pooled(intervals, "ttft")] == pytest.approx([1, 2, 2], rel=1e-3)
    assert [p["max"] for p in pooled(intervals, "ttft")] == [1, 2, None]


def test_too_few_streams_for_any_percentile_leave_their_range():
    found = pooled([piece([3 * 10**6, 5 * 10**6]), piece([])], "ttft")
    assert found == [{"min": 3.0, "max": 5.0}, {"min": None, "max": None}]


def test_streams_that_all_failed_have_no_times(make_level, make_result):
    level = streaming(make_level(5, 0.0, 100.0, errors=500), 300)
    result = make_result("run", [typed.patched(level, stream={"tokens_per_s": None})])
    assert "ttft" not in [curve["metric"] for curve in distributions.of(result)]
    assert "No request succeeded" in sentence.verdict(result)


def test_panels_of_a_ladder_say_which_numbers_its_levels_carry(streamed_ladder):
    figure = draw(lambda: stream_figure.panels(LadderChart.of(streamed_ladder)))
    assert titles(figure) == [
        "ttft, ms: p95 ▲, p50 ■",
        "inter_chunk, ms: p95 ▲, p50 ■",
        "tokens/s",
        "goodput: within every SLO of latency",
    ]
    high, middle = figure.axes[0].lines[:2]
    assert list(middle.get_xdata()) == [10, 20, 50, 100, 200, 400]
    assert list(high.get_xdata()) == [20, 50]
    assert "SLO ttft p95 < 900ms" in texts(figure)


def test_levels_too_short_for_a_median_have_their_mean(streamed_ladder):
    first = {"stream": {"ttft_ms": {"p50": None, "p95": None}}}
    result = typed.patched(streamed_ladder, levels={0: first})
    found = draw(lambda: stream_figure.panels(LadderChart.of(result)))
    assert titles(found)[0] == "ttft, ms: p95 ▲, mean ■"
    (panel, *_) = view_ladder.ladder(result)["stream_panels"]
    assert panel == {"metric": "ttft", "statistics": ("ttft p95", "ttft mean")}


def test_levels_without_a_stream_leave_the_medians_of_the_others(streamed_ladder):
    failed = {"stream": {"ttft_ms": None}}
    result = typed.patched(streamed_ladder, levels={0: failed})
    (panel, *_) = view_ladder.ladder(result)["stream_panels"]
    assert panel == {"metric": "ttft", "statistics": ("ttft p95", "ttft p50")}


def test_the_pace_of_texts_is_that_which_has_a_limit(make_station, make_result):
    levels = [streaming(make_station(n, delay_ms=50), 300) for n in (10, 20)]
    slos = ["tpot p90 < 30ms", "ttft p99 < 2s"]
    found = draw(lambda: stream_figure.panels(LadderChart.of(make_result("ladder", levels, slos))))
    assert titles(found)[:2] == ["ttft, ms: p99 ▲, p50 ■", "tpot, ms: p90 ▲, p50 ■"]
    assert "SLO tpot p90 < 30ms" in texts(found)


def test_panels_of_calls_are_of_messages(called_ladder):
    figure = draw(lambda: stream_figure.panels(LadderChart.of(called_ladder)))
    assert titles(figure) == [
        "ttfe, ms: p95 ▲, p50 ■",
        "inter_chunk, ms: p95 ▲, p50 ■",
        "message, ms: p95 ▲, p50 ■",
        "goodput: within every SLO of latency",
    ]
    assert "SLO message p95 < 50ms" in texts(figure)


def test_a_limit_on_ttft_is_drawn_for_calls_as_for_chats(called, called_ladder, make_result):
    slos = ["ttft p95 < 800ms"]
    run = make_result("run", called.levels, slos)
    shown = {"text": slos[0], "metric": "ttfe", "stat": "p95", "limit": 800.0, "unit": "ms"}
    assert view_ladder.slos(run) == [{**shown, "request": None}]
    ladder = make_result("ladder", called_ladder.levels, slos)
    assert "SLO ttft p95 < 800ms" in texts(
        draw(lambda: stream_figure.panels(LadderChart.of(ladder)))
    )


def test_limited_levels_of_streams_are_hollow_and_named(streamed_ladder):
    limited = {"health": {"verdict": "generator-limited"}}
    ladder = LadderChart.of(typed.patched(streamed_ladder, levels={5: limited}))
    figure = draw(lambda: stream_figure.panels(ladder))
    assert "generator-limited" in texts(figure)
    for ax in figure.axes:
        hollow = [x for x in ax.lines if x.get_markerfacecolor() == theme.PAPER]
        assert [int(line.get_xdata()[0]) for line in hollow] == [400]
        assert ax.get_ylim()[1] > hollow[0].get_ydata()[0]


def test_the_legend_of_streams_hides_no_level(streamed_ladder):
    odd = {0: {"cut_short": True}, 4: {"starved": 90}}
    odd[5] = {"health": {"verdict": "generator-limited"}}
    streamed_ladder = typed.patched(streamed_ladder, levels=odd)
    figure = draw(lambda: stream_figure.panels(LadderChart.of(streamed_ladder)))
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert len(legend.get_texts()) == 3
    box = legend.get_window_extent()
    assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
    for ax in figure.axes:
        words = [*ax.get_xticklabels(), ax.xaxis.label]
        assert not [w for w in words if w.get_text() and box.overlaps(w.get_window_extent())]


def test_what_no_server_told_has_no_panel(streamed_ladder):
    untold = {"stream": {"tokens_per_s": None, "goodput_rate": None}}
    untold = typed.patched(streamed_ladder, levels=dict.fromkeys(range(6), untold))
    figure = draw(lambda: stream_figure.panels(LadderChart.of(untold)))
    assert [title.split(",")[0] for title in titles(figure)] == ["ttft", "inter_chunk"]


def test_titles_of_streams_fit_into_the_picture(streamed_ladder):
    figure = draw(lambda: stream_figure.panels(LadderChart.of(streamed_ladder)))
    figure.draw_without_rendering()
    assert figure.axes
    for ax in figure.axes:
        assert ax._left_title.get_window_extent().x1 <= figure.bbox.x1


def test_a_ladder_of_streams_has_a_third_picture(tmp_path, streamed_ladder):
    names = [path.name for path in torr.report.write_all(streamed_ladder, tmp_path)]
    assert names[-3:] == [
        *("apiserver_qps_ttlb.png", "apiserver_successrate.png", "apiserver_streams.png")
    ]


def test_the_page_of_a_ladder_of_streams_is_given_their_values(streamed_ladder):
    found = view_ladder.ladder(streamed_ladder)
    streams = {point["concurrency"]: point["stream"] for point in found["points"]}
    assert streams[20]["ttft p95"] == streamed_ladder.levels[1].stream.ttft_ms.p95
    assert "ttft p95" not in streams[10]
    assert [slo["text"] for slo in found["slos"]] == ["ttft p95 < 900ms"]


def diff_of(one, two):
    first, second = (Series.of(name, levels) for name, levels in (("a", one), ("b", two)))
    return diff.ratios(first, second)


def test_a_diff_has_the_times_of_streams_that_both_runs_have(streamed_ladder):
    levels = streamed_ladder.levels
    found = view_ladder.diff(diff_of(levels, levels[2:]))
    # Four levels are common, and the last ones have too few streams for a p95.
    assert found["stream_metrics"] == ["ttft p50", "tpot p50"]
    points = [side["points"][-1]["stream"] for side in found["sides"]]
    assert [point["ttft p50"] for point in points] == [levels[-1].stream.ttft_ms.p50] * 2


def test_a_diff_prefers_the_high_percentile_if_as_many_levels_have_it(streamed_ladder):
    levels = streamed_ladder.levels[1:3]
    assert view_ladder.diff(diff_of(levels, levels))["stream_metrics"] == ["ttft p95", "tpot p95"]


def test_a_diff_of_calls_has_the_times_of_messages(called_ladder):
    levels = called_ladder.levels[1:3]
    assert view_ladder.diff(diff_of(levels, levels))["stream_metrics"] == [
        "ttfe p95",
        "message p95",
    ]


def test_a_diff_with_a_run_without_streams_has_none(streamed_ladder, ladder):
    result = diff_of(streamed_ladder.levels, ladder.levels)
    assert view_ladder.diff(result)["stream_metrics"] == []
    assert [side.points[0].stream for side in result.series] == [UNSET, UNSET]


def test_a_limit_of_the_median_leaves_the_high_percentile(make_station, make_result):
    levels = [streaming(make_station(n, delay_ms=50), 300) for n in (10, 20)]
    result = make_result("ladder", levels, ["ttft p50 < 400ms"])
    figure = draw(lambda: stream_figure.panels(LadderChart.of(result)))
    assert titles(figure)[0] == "ttft, ms: p95 ▲, p50 ■"
    assert "SLO ttft p50 < 400ms" in texts(figure)


def test_unreliable_gaps_are_hollow_and_named(streamed_ladder):
    unreliable = {"stream": {"inter_chunk_reliable": False}}
    ladder = LadderChart.of(typed.patched(streamed_ladder, levels={4: unreliable, 5: unreliable}))
    figure = draw(lambda: stream_figure.panels(ladder))
    assert "inter_chunk unreliable" in texts(figure)
    hollow = [
        {int(x.get_xdata()[0]) for x in ax.lines if x.get_markerfacecolor() == theme.PAPER}
        for ax in figure.axes
    ]
    assert hollow == [set(), {200, 400}, set(), set()]
