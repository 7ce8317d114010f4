import itertools

import pytest
from matplotlib.text import Text
from PIL import Image

import typed
from torr.report.figures import ladder_figure, theme
from torr.report.files import png
from torr.report.view.view_ladder import LadderChart


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
    figure = draw(lambda: ladder_figure.qps_ttlb(LadderChart.of(ladder)))
    found = texts(figure)
    assert "ok requests/s (QPS)" in found
    assert "mean time to last byte (TTLB), ms" in found
    assert "connections (log scale)" in found
    assert {"peak: 100–200", "knee: 100"} <= set(found)
    assert "capacity under SLO: 200" in found
    assert any(text.startswith("Holds 18,167 requests/s at 200") for text in found)


def test_sizes_start_at_zero(ladder):
    figure = draw(lambda: ladder_figure.qps_ttlb(LadderChart.of(ladder)))
    assert [ax.get_ylim()[0] for ax in figure.axes] == [0, 0]
    figure = draw(lambda: ladder_figure.success(LadderChart.of(ladder)))
    assert figure.axes[0].get_ylim() == (0, 118)


def test_limited_levels_are_hollow_hatched_named_and_not_joined(limited_ladder):
    figure = draw(lambda: ladder_figure.qps_ttlb(LadderChart.of(limited_ladder)))
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
    from torr.report.data import diff
    from torr.report.figures import diff_figure

    figure = draw(lambda: diff_figure.qps_ttlb(diff.sides(diffed), ("title", "subtitle")))
    assert texts(figure).count("bare") == 2
    assert texts(figure).count("apiserver") == 2


def test_measured_levels_are_ticks_and_labels_never_overlap(collapsing_ladder):
    figure = draw(lambda: ladder_figure.qps_ttlb(LadderChart.of(collapsing_ladder)))
    ax = figure.axes[0]
    figure.draw_without_rendering()
    ticks = list(ax.xaxis.get_major_locator().tick_values(*ax.get_xlim()))
    assert ticks == [200, 500, 1000, 3000, 5000, 10_000, 15_000, 20_000, 25_000, 50_000]
    boxes = [t.get_window_extent() for t in ax.get_xticklabels() if t.get_text()]
    assert len(boxes) > 1
    assert all(a.x1 < b.x0 for a, b in itertools.pairwise(boxes))


def test_failures_carry_their_number(collapsing_ladder):
    figure = draw(lambda: ladder_figure.success(LadderChart.of(collapsing_ladder)))
    assert "54.55 %" in texts(figure)


@pytest.mark.parametrize("verdict", ["healthy", "generator-limited"])
@pytest.mark.parametrize("rate", [0.0, 100.0])
def test_one_level_is_drawn_whatever_it_is_worth(tmp_path, make_level, make_result, verdict, rate):
    made = make_level(1, rate, 1.0, errors=3, verdict=verdict)
    paths = png.write_ladder(make_result("ladder", [made]), tmp_path)
    assert len(paths) == 2
    for path in paths:
        check(path)


def test_names_with_signs_of_tex_and_of_other_scripts_are_drawn_as_they_are(tmp_path, ladder):
    named = typed.changed(ladder, name="cost $x^2$ 压测")
    paths = png.write_ladder(named, tmp_path)
    assert len(paths) == 2
    for path in paths:
        check(path)
    figure = draw(lambda: ladder_figure.success(LadderChart.of(named)))
    shown = [text for text in figure.findobj(Text) if "cost $x^2$ 压测" in text.get_text()]
    assert shown
    assert not any(text.get_parse_math() for text in shown)


def test_a_level_cut_short_is_named_and_stands_apart_from_the_line(make_station, make_result):
    made = [*(make_station(n) for n in (10, 20, 50)), make_station(100, cut_short=True)]
    found = LadderChart.of(make_result("ladder", made))
    assert found.levels == [10, 20, 50, 100]
    for make in (ladder_figure.qps_ttlb, ladder_figure.success):
        figure = draw(lambda make=make: make(found))
        assert "cut short" in texts(figure)
        assert list(figure.axes[0].lines[0].get_xdata()) == [10, 20, 50]
