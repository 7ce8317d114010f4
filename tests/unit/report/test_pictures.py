import itertools

import pytest
from PIL import Image

from torr.report import ladder_figure, png, run_figure, theme


def texts(figure):
    figure.draw_without_rendering()
    return [text.get_text() for text in figure.findobj(lambda a: hasattr(a, "get_text"))]


def draw(make):
    with theme.style():
        return make()


def check(path):
    with Image.open(path) as picture:
        assert picture.format == "PNG"
        assert picture.info["dpi"] == pytest.approx((150, 150), abs=0.1)
        assert picture.width == 1500
        # A picture that is drawn has more than paper, ink and a few greys.
        assert len(picture.convert("RGB").getcolors(10**6)) > 50


def test_a_ladder_has_two_pictures_under_wrktests_names(tmp_path, ladder):
    paths = png.write_ladder(ladder, tmp_path)
    assert [path.name for path in paths] == ["apiserver_qps_ttlb.png", "apiserver_successrate.png"]
    assert sorted(tmp_path.iterdir()) == paths
    for path in paths:
        check(path)


def test_a_diff_has_two_pictures_under_wrktests_names(tmp_path, diffed):
    paths = png.write_diff(diffed, tmp_path)
    assert [path.name for path in paths] == [
        "bare_apiserver.qps.ttlb.diff.png",
        "bare_apiserver.success_rate.diff.png",
    ]
    for path in paths:
        check(path)


def test_the_picture_says_the_finding_names_axes_with_units_and_marks_it(ladder):
    figure = draw(lambda: ladder_figure.qps_ttlb(png.ladder(ladder)))
    found = texts(figure)
    assert "ok requests/s (QPS)" in found
    assert "mean time to last byte (TTLB), ms" in found
    assert "connections (log scale)" in found
    assert {"peak: 100–200", "knee: 100"} <= set(found)
    assert "capacity under SLO: 200" in found
    assert any(text.startswith("Holds 18,167 requests/s at 200") for text in found)


def test_sizes_start_at_zero(ladder):
    figure = draw(lambda: ladder_figure.qps_ttlb(png.ladder(ladder)))
    assert [ax.get_ylim()[0] for ax in figure.axes] == [0, 0]
    figure = draw(lambda: ladder_figure.success(png.ladder(ladder)))
    assert figure.axes[0].get_ylim() == (0, 118)


def test_limited_levels_are_hollow_hatched_named_and_not_joined(limited_ladder):
    figure = draw(lambda: ladder_figure.qps_ttlb(png.ladder(limited_ladder)))
    assert "generator-limited" in texts(figure)
    joined = max(figure.axes[0].lines, key=lambda line: len(line.get_xdata()))
    assert list(joined.get_xdata()) == [10, 20, 50, 100, 200, 400]
    hollow = [x for x in figure.axes[0].lines if x.get_markerfacecolor() == theme.PAPER]
    assert [int(line.get_xdata()[0]) for line in hollow] == [800, 1600]
    assert [patch.get_hatch() for patch in figure.axes[0].patches] == ["///", "///"]


def test_series_differ_without_their_colour(diffed):
    marks = (theme.FIRST, theme.SECOND, theme.THIRD)
    assert len({mark.marker for mark in marks}) == 3
    assert len({mark.dash for mark in marks}) == 3
    from torr.report import diff, diff_figure

    figure = draw(lambda: diff_figure.qps_ttlb(diff.sides(diffed), ("title", "subtitle")))
    assert texts(figure).count("bare") == 2
    assert texts(figure).count("apiserver") == 2


def test_measured_levels_are_ticks_and_labels_never_overlap(collapsing_ladder):
    figure = draw(lambda: ladder_figure.qps_ttlb(png.ladder(collapsing_ladder)))
    ax = figure.axes[0]
    figure.draw_without_rendering()
    ticks = list(ax.xaxis.get_major_locator().tick_values(*ax.get_xlim()))
    assert ticks == [200, 500, 1000, 3000, 5000, 10_000, 15_000, 20_000, 25_000, 50_000]
    boxes = [t.get_window_extent() for t in ax.get_xticklabels() if t.get_text()]
    assert len(boxes) > 1
    assert all(a.x1 < b.x0 for a, b in itertools.pairwise(boxes))


def test_failures_carry_their_number(collapsing_ladder):
    figure = draw(lambda: ladder_figure.success(png.ladder(collapsing_ladder)))
    assert "54.55 %" in texts(figure)


@pytest.mark.parametrize("verdict", ["healthy", "generator-limited"])
@pytest.mark.parametrize("rate", [0.0, 100.0])
def test_one_level_is_drawn_whatever_it_is_worth(tmp_path, make_level, make_result, verdict, rate):
    made = make_level(1, rate, 1.0, errors=3, verdict=verdict)
    for path in png.write_ladder(make_result("ladder", [made]), tmp_path):
        check(path)


def test_names_with_signs_of_tex_and_of_other_scripts_are_drawn_as_they_are(tmp_path, ladder):
    ladder["name"] = "cost $x^2$ 压测"
    for path in png.write_ladder(ladder, tmp_path):
        check(path)


def test_time_runs_from_the_warm_up_to_the_end_with_errors_on_the_same_axis(run):
    figure = draw(lambda: run_figure.timeline(run["levels"]))
    times, rates, errors = figure.axes
    assert times.get_xlim() == rates.get_xlim() == errors.get_xlim() == (-2, 10)
    assert {"p50", "p95", "p99", "warm-up", "errors/s"} <= set(texts(figure))


def test_timeouts_that_end_in_the_drain_are_seen(run):
    late = {**run["levels"][0]["slices"][-1], "phase": "drain", "t_s": 10.0, "ok_per_s": 0.0}
    run["levels"][0]["slices"].append(late)
    figure = draw(lambda: run_figure.timeline(run["levels"]))
    assert figure.axes[0].get_xlim() == (-2, 11)
    assert "drain" in texts(figure)


def test_names_of_percentiles_that_meet_stand_one_above_the_other(run):
    for piece in run["levels"][0]["slices"]:
        piece["latency"]["response_ms"] |= {"p50": 20.0, "p95": 20.1, "p99": 20.2}
    figure = draw(lambda: run_figure.timeline(run["levels"]))
    figure.draw_without_rendering()
    names = {t.get_text(): t for t in figure.axes[0].texts if t.get_text().startswith("p")}
    boxes = [names[stat].get_window_extent() for stat in ("p50", "p95", "p99")]
    assert all(a.y1 <= b.y1 - 10 for a, b in itertools.pairwise(boxes))


def test_levels_of_a_ladder_follow_one_another_in_time(ladder):
    figure = draw(lambda: run_figure.timeline(ladder["levels"]))
    assert figure.axes[0].get_xlim() == (0, 80)
    assert {"10", "200", "1.6k", "errors/s: none"} <= set(texts(figure))


def test_a_percentile_that_too_few_answers_carry_leaves_a_gap(run):
    for piece in run["levels"][0]["slices"]:
        piece["latency"]["response_ms"]["p99"] = None
    found = texts(draw(lambda: run_figure.timeline(run["levels"])))
    assert "p95" in found
    assert "p99" not in found


def test_without_slices_there_is_no_picture_over_time(make_level):
    assert run_figure.timeline([make_level(5, 1.0, 1.0, slices=[])]) is None


def test_a_level_cut_short_is_named_and_stands_apart_from_the_line(make_station, make_result):
    made = [*(make_station(n) for n in (10, 20, 50)), make_station(100, interrupted=True)]
    found = png.ladder(make_result("ladder", made))
    assert found.levels == [10, 20, 50, 100]
    for make in (ladder_figure.qps_ttlb, ladder_figure.success, ladder_figure.panels):
        figure = draw(lambda make=make: make(found))
        assert "cut short" in texts(figure)
        assert list(figure.axes[0].lines[0].get_xdata()) == [10, 20, 50]


def test_the_tip_of_one_connection_is_no_plural(make_level, make_result):
    found = png.ladder(
        make_result("ladder", [make_level(1, 900.0, 1.0), make_level(2, 990.0, 2.0)])
    )
    figure = draw(lambda: ladder_figure.panels(found))
    tips = [line.get_gid() for ax in figure.axes for line in ax.lines if line.get_gid()]
    assert len(tips) == 3
    assert all("1 connection: " in tip and "2 connections: " in tip for tip in tips)


def test_levels_that_claim_nothing_are_inside_the_axes(make_level, make_result):
    made = [make_level(1, 900.0, 1.0), make_level(2, 990.0, 400.0, verdict="generator-limited")]
    figure = draw(lambda: ladder_figure.panels(png.ladder(make_result("ladder", made))))
    for ax in figure.axes:
        hollow = [x for x in ax.lines if x.get_markerfacecolor() == theme.PAPER]
        assert [ax.get_ylim()[1] > line.get_ydata()[0] for line in hollow] == [True]


def test_titles_over_time_fit_on_a_narrow_page(collapsing_ladder):
    figure = draw(lambda: run_figure.timeline(collapsing_ladder["levels"], 4.0, 6.2))
    figure.draw_without_rendering()
    for ax in figure.axes:
        assert ax._left_title.get_window_extent().x1 <= figure.bbox.x1
