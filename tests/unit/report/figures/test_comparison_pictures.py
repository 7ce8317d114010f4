"""The picture and the page of a comparison, for few cells and many, and for whatever is missing."""

import itertools
import math
import re

import pytest
from matplotlib.text import Text
from PIL import Image

import torr.report
import typed
from compared import FACTORS, compared, failure, matrix, pair, rounds
from page import Page, english, titles
from torr.report.data.comparison import Comparison
from torr.report.data.comparison_scale import Scale
from torr.report.figures import comparison_figure, theme
from torr.report.files import html, png
from torr.report.view import view, view_comparison

AT = {"connections": 500}
HOSTILE = '<b>$name$ & "co"</b>|x'
MANY = {"processes": list(range(1, 7)), "connections": [1, 10, 50, 100, 500, 1000]}


def figure_of(result):
    with theme.style():
        figure = comparison_figure.panels(Comparison.of(result), ("title", "subtitle"))
        if figure is not None:
            figure.draw_without_rendering()
        return figure


def words(figure):
    """What is written in a picture: titles, labels, ticks, legend."""
    return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]


def texts(figure):
    return [text.get_text() for text in words(figure)]


def failed_everywhere():
    return compared(
        rounds({"go-net": 12_000}, AT),
        names=["go-net", "go-gin"],
        failures=[failure("go-gin", AT, number) for number in (1, 2)],
    )


def hostile():
    levels = rounds({HOSTILE: 100, "b" * 80: 0, "c": 5000}, AT, errors=5)
    told = failure(HOSTILE, AT, text="<script>alert(1)</script>")
    told["log_tail"] = ["</pre><script>alert(1)</script>"]
    return compared(levels, baseline=HOSTILE, failures=[told])


def bare():
    """What is left of a run that was killed before anything but its levels was written."""
    levels = pair(0.88, count=2).levels
    return typed.result(kind="compare", status="interrupted", levels=levels)


RESULTS = {
    "pair": lambda: pair(0.88),
    "four": lambda: pair(0.88, 0.9, 1.0, 0.7, factors=FACTORS),
    "six": matrix,
    "failed everywhere": failed_everywhere,
    "all failed": lambda: compared([], names=["go-net", "b"], failures=[failure("go-net", AT)]),
    "nothing": lambda: compared([], names=["go-net", "go-gin"]),
    "zero": lambda: compared(rounds({"go-net": 0, "go-gin": 0}, AT, errors=10)),
    "hostile": hostile,
    "bare": bare,
}


@pytest.fixture(params=RESULTS)
def any_comparison(request):
    return RESULTS[request.param]()


def test_every_file_is_written(tmp_path, any_comparison):
    name = f"{any_comparison.name}_compare.png"
    paths = [path.name for path in torr.report.write_all(any_comparison, tmp_path)]
    assert paths[:3] == ["report.html", "summary.md", "levels.csv"]
    assert (name in paths) == bool(any_comparison.levels)


def test_everything_has_a_page(any_comparison):
    given = Page(html.page(any_comparison)).data
    assert given["run"]["view"]["sentence"]


def test_names_and_logs_are_data():
    page = Page(html.page(hostile()))
    assert page.tags.count("b") == 0
    assert page.tags.count("script") == 2
    view = page.data["run"]["view"]
    assert HOSTILE in [entry["name"] for entry in view["comparison"]["places"][0]["entries"]]
    assert "</pre><script>alert(1)</script>" in view["blocks"][0]["text"]


def test_the_png_is_as_wide_as_a_slide(tmp_path):
    (path,) = png.write_comparison(pair(0.88, 0.9, 1.0, 0.7, factors=FACTORS), tmp_path)
    with Image.open(path) as picture:
        assert picture.width == 1500
        assert len(picture.convert("RGB").getcolors(10**6)) > 50


def test_every_cell_is_a_panel_every_candidate_a_row_every_round_a_dot():
    result = matrix()
    figure = figure_of(result)
    assert len(figure.axes) == 6
    for ax in figure.axes:
        dots = [line for line in ax.lines if line.get_marker() == "."]
        assert [len(line.get_xdata()) for line in dots] == [12] * 6
    found = texts(figure)
    assert {"1 process and 100 connections", "4 processes and 1,000 connections"} <= set(found)
    assert found.count("litefs-native") == 2  # beside the first panel of each line
    assert {"faster", "slower", "same", "2.40 ×", "baseline"} <= set(found)


def test_the_estimate_stands_where_the_verdict_says():
    result = pair(0.7)
    verdict = next(v for v in result.verdicts if v.family == "primary")
    (ax,) = figure_of(result).axes
    lines = {line.get_marker(): line for line in ax.lines}
    assert lines["v"].get_xdata()[0] == pytest.approx(math.log(verdict.ratio))
    ends = [list(line.get_xdata()) for line in ax.lines if list(line.get_ydata()) == [1, 1]]
    assert ends == [pytest.approx([math.log(end) for end in verdict.interval])]


def test_what_forbids_a_claim_leaves_no_estimate_on_the_axis():
    result = compared(rounds({"go-net": 1000, "go-gin": 80}, AT, health="generator-limited"))
    (ax,) = figure_of(result).axes
    assert [line for line in ax.lines if list(line.get_ydata()) == [1, 1]] == []
    (cross,) = [line for line in ax.lines if line.get_marker() == "x"]
    assert cross.get_transform() == ax.get_yaxis_transform()
    assert cross.get_xdata()[0] > 1
    assert "0.08 ×" not in texts(ax.figure)
    entry = view_comparison.comparison(result)["places"][0]["entries"][1]
    assert (entry["centre"], entry["interval"]) == (None, None)
    assert (entry["ratio"], entry["amount"]) == ("–", "")
    assert len(entry["rounds"]) == 10


@pytest.mark.parametrize("name", ["four", "hostile", "failed everywhere"])
def test_words_stay_within_the_picture_and_off_each_other(name):
    check_words(figure_of(RESULTS[name]()))


@pytest.mark.full
def test_36_cells_of_6_candidates_are_readable():
    figure = figure_of(matrix(MANY))
    assert len(figure.axes) == 36
    check_words(figure)


def check_words(figure):
    """Fail on words that are cut by the picture's edge or written over others."""
    boxes = [(text.get_text(), text.get_window_extent()) for text in words(figure)]
    whole = figure.bbox
    for text, box in boxes:
        assert whole.x0 - 1 <= box.x0 < box.x1 <= whole.x1 + 1, text
        assert whole.y0 - 1 <= box.y0 < box.y1 <= whole.y1 + 1, text
    boxes.sort(key=lambda each: each[1].y0)
    for at, (one, a) in enumerate(boxes):
        beside = itertools.takewhile(lambda each, top=a.y1: each[1].y0 < top, boxes[at + 1 :])
        hidden = [other for other, b in beside if a.padded(-1.5).overlaps(b.padded(-1.5))]
        assert not hidden, one


def test_rounds_far_off_stand_at_the_edge_and_squeeze_nothing():
    result = pair(0.95, spread=0.005)
    levels = [
        typed.changed(level, ok_per_s=1.0)
        if (level.candidate, level.round) == ("go-gin", 4)
        else level
        for level in result.levels
    ]
    result = typed.changed(result, levels=levels)
    scale = Scale.of(Comparison.of(result))
    assert scale.limits[0] > math.log(0.8)
    (ax,) = figure_of(result).axes
    (arrow,) = [line for line in ax.lines if line.get_marker() == "<"]
    assert list(arrow.get_xdata()) == [scale.limits[0]]


@pytest.mark.parametrize(("failing", "points"), [("go-net", -30), ("go-gin", 30)])
def test_the_axis_of_shares_holds_any_difference(failing, points):
    from torr.stats.metric import ERROR_RATE, Metric
    from torr.verdicts.comparison import Procedure

    levels = [
        typed.changed(level, success_rate=70.0 if level.candidate == failing else 100.0)
        for level in rounds({"go-net": 12_000, "go-gin": 12_000}, AT, errors=600)
    ]
    result = compared(levels, procedure=Procedure(primary=Metric(ERROR_RATE)))
    scale = Scale.of(Comparison.of(result))
    assert scale.limits[0] < points < scale.limits[1]


def test_a_primary_metric_that_is_a_share_is_drawn_in_points():
    from torr.stats.metric import ERROR_RATE, Metric
    from torr.verdicts.comparison import Procedure

    failing = rounds({"go-gin": 12_000}, AT, errors=600)
    failing = [typed.changed(level, success_rate=99.0) for level in failing]
    levels = [*rounds({"go-net": 12_000}, AT), *failing]
    result = compared(levels, procedure=Procedure(primary=Metric(ERROR_RATE)))
    figure = figure_of(result)
    assert "+1.00" in texts(figure)
    assert "errors, points from go-net (band: ±0.01, the same)" in texts(figure)
    assert "worse" in texts(figure)
    entry = view_comparison.comparison(result)["places"][0]["entries"][1]
    assert (entry["amount"], english(entry["ratio"])) == ("+1.00", "+1.00 points")
    written = (entry["ratio"], entry["interval_text"], entry["rounds"][0]["text"])
    assert [list(text) for text in written] == [["en", "zh"]] * 3


def test_what_failed_is_said_in_the_place_of_dots():
    assert "failed: did not start" in texts(figure_of(failed_everywhere()))


def test_every_round_is_a_dot_that_tells_its_value():
    found = view_comparison.comparison(pair(0.88))
    base, rival = found["places"][0]["entries"]
    assert [entry["name"] for entry in (base, rival)] == ["go-net", "go-gin"]
    assert [len(entry["rounds"]) for entry in (base, rival)] == [10, 10]
    assert re.fullmatch(r"10,\d{3} ok/s : 1\d,\d{3}", rival["rounds"][0]["text"])
    assert (base["amount"], rival["amount"]) == ("", rival["ratio"])
    low, high = rival["interval"]
    assert low < rival["centre"] < high < found["margin"][0]
    assert rival["word"] == {"en": "slower", "zh": "更慢"}


def test_an_interval_without_an_end_reaches_the_edge():
    result = pair(0.88)
    endless = [
        typed.changed(verdict, interval=verdict.interval and (None, verdict.interval[1]))
        for verdict in result.verdicts
    ]
    result = typed.changed(result, verdicts=endless)
    found = view_comparison.comparison(result)
    assert found["places"][0]["entries"][1]["interval"][0] == found["limits"][0]


def test_the_page_has_its_parts_in_order():
    result = pair(0.88, 0.9, 1.0, 0.7, factors=FACTORS, failures=[failure("go-gin", AT)])
    result.experiment.differences = ["go-gin says Date, go-net does not."]
    found = view.view(result)
    assert english(found["sentence"]).startswith("go-gin is slower than go-net in 3")
    assert titles(result) == [
        *("Verdicts", "1 process", "4 processes", "Trials: medians of rounds"),
        "Trials that failed",
        *("Every verdict", "Candidates", "Configuration", "How each level was judged"),
    ]
    assert [(english(each["title"]), each["folded"]) for each in found["lists"]] == [
        ("Meaning of the verdicts", False),
        ("How the candidates' responses differ", False),
        ("Rules of fairness, as applied", True),
        ("Health of the generator", True),
    ]


def test_every_verdict_is_on_the_page():
    result = pair(0.88, 0.9, 1.0, 0.7, factors=FACTORS)
    tables = {english(t["title"]): t for t in view.view(result)["tables"]}
    assert len(tables["Every verdict"]["rows"]) == len(result.verdicts)
