"""No word of a picture hides a point or another word, however odd the ladder."""

import itertools

import pytest
from matplotlib.legend import Legend
from matplotlib.text import Text

import results
import typed
from torr.report.figures import diff_figure, findings, ladder_figure, theme
from torr.report.view.view_ladder import LadderChart, NamedLevel
from torr.stats.series import Series

EVEN = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
CROWDED = (1, 1000, 1100, 1150, 1200, 1210, 1250, 1300, 1310, 1320, 1330, 1400)
# Knee at 100, plateau 110 to 120: the limit on p95 moves the capacity.
STEEP = ((50, 900.0, 5.0), (100, 1900.0, 5.2), (110, 2150.0, 9.0), (120, 2160.0, 180.0))
CLOSE = ((50, 900.0, 5.0), (62, 2150.0, 5.5), (64, 2270.0, 6.0), (66, 2272.0, 8.0))


def draw(make):
    with theme.style():
        figure = make()
        figure.draw_without_rendering()
    return figure


def words(figure):
    """The box of each word that was put into the axes, above them, or beside them."""
    for ax in figure.axes:
        for text in ax.texts:
            yield text.get_text(), Text.get_window_extent(text)
        for legend in ax.findobj(Legend):
            yield "legend", legend.get_window_extent()
        yield "title", ax.title.get_window_extent()
        left = ax._left_title
        yield left.get_text(), left.get_window_extent()


def points(figure):
    for ax in figure.axes:
        for line in ax.lines:
            if line.get_marker() not in ("None", None, ""):
                yield from line.get_transform().transform(line.get_xydata())


def hidden(figure):
    """Words over points, or over one another, as they would be read out in a complaint."""
    named = [(name, box) for name, box in words(figure) if name and box.width]
    found = [
        f"{name!r} hides a point"
        for name, box in named
        for x, y in points(figure)
        if box.x0 - 2 < x < box.x1 + 2 and box.y0 - 2 < y < box.y1 + 2
    ]
    pairs = itertools.combinations(named, 2)
    return found + [f"{a!r} over {b!r}" for (a, one), (b, other) in pairs if one.overlaps(other)]


def pictures(ladder):
    yield lambda: ladder_figure.qps_ttlb(ladder)
    yield lambda: ladder_figure.success(ladder)


def odd_ladders(make_level):
    failing = [make_level(n, 2000.0 + n, 25.0, errors=90 * i) for i, n in enumerate(EVEN, 1)]
    steep = [make_level(*row) for row in (*STEEP, (800, 1500.0, 400.0))]
    close = [make_level(*row, verdict="contended") for row in (*CLOSE, (90, 1500.0, 40.0))]
    limited = make_level(200, 900.0, 40.0, errors=100, verdict="generator-limited")
    cut = make_level(120, 1000.0, 40.0, cut_short=True)
    starved = make_level(400, 800.0, 40.0, starved=40)
    return {
        "one level": ([make_level(50, 2000.0, 25.0, errors=200)], ["success >= 99.9%"]),
        "twelve that fail": (failing, ["p95 < 500ms", "success >= 99%"]),
        "all limited": ([limited, typed.changed(limited, concurrency=40)], ["p95 < 500ms"]),
        "capacity at the knee": (steep, ["p95 < 15ms"]),
        "capacity beside the knee": (steep, ["p95 < 30ms"]),
        "three side by side": (close, ["p95 < 30ms", "success >= 99.9%"]),
        "every kind of no claim": ([*close, cut, limited, starved], ["p95 < 30ms"]),
        "nothing succeeded": ([make_level(5, 0.0, 1.0, errors=40)], ["success >= 99%"]),
    }


NAMES = tuple(odd_ladders(results.level))


@pytest.mark.parametrize("name", NAMES)
def test_no_word_of_a_ladder_hides_a_point_or_another(make_level, make_result, name):
    levels, slos = odd_ladders(make_level)[name]
    for make in pictures(LadderChart.of(make_result("ladder", levels, slos))):
        assert hidden(draw(make)) == []


def test_crowded_levels_that_all_fail_keep_every_number(make_level, make_result):
    levels = [make_level(n, 2000.0, 25.0, errors=200 + 30 * i) for i, n in enumerate(CROWDED)]
    figure = draw(lambda: ladder_figure.success(LadderChart.of(make_result("ladder", levels))))
    assert hidden(figure) == []
    assert len(figure.axes[0].texts) == len(CROWDED)


def test_no_word_of_a_diff_hides_a_point_or_another(make_level):
    one = [make_level(n, 2000.0, 25.0, errors=100 + n) for n in EVEN]
    other = [make_level(n, 2010.0, 25.0, errors=130 + n) for n in EVEN[:-2]]
    sides = Series.of("baseline", one), Series.of("candidate", other)
    assert hidden(draw(lambda: diff_figure.qps_ttlb(sides, ("title", "subtitle")))) == []
    assert hidden(draw(lambda: diff_figure.success(sides, ("title", "subtitle")))) == []


def test_a_number_stands_nearest_to_its_own_point(make_level, make_result):
    levels = [make_level(n, 2000.0, 25.0) for n in (200, 10_000, 15_000, 20_000)]
    levels.append(make_level(25_000, 100.0, 25.0, verdict="generator-limited"))
    levels[3] = make_level(20_000, 2000.0, 25.0, errors=20)
    figure = draw(lambda: ladder_figure.success(LadderChart.of(make_result("ladder", levels))))
    (box,) = (box for name, box in words(figure) if name == "99.9 %")
    middle = (box.x0 + box.x1) / 2
    assert min(points(figure), key=lambda at: abs(at[0] - middle))[0] == pytest.approx(
        figure.axes[0].transData.transform((20_000, 0))[0]
    )


def arranged(*found):
    """Flags in empty axes with levels from 10 to 1,000."""
    with theme.style():
        figure = theme.figure(10, 4)
        ax = figure.add_axes((0.1, 0.1, 0.8, 0.8))
        theme.levels_axis(ax, [10, 1000], "user")
        assert ax.get_xlabel() == "users (log scale)"
        return findings.arrange(ax, [NamedLevel(*finding) for finding in found])


CROSSED = [
    ((100, "knee: 100", "knee"), (104, "capacity under SLO: 104", "capacity")),
    ((104, "peak from 104 on", "peak"), (100, "knee: 100", "knee"), (108, "capacity", "capacity")),
    ((950, "knee: 950", "knee"), (1000, "capacity under SLO: 1,000", "capacity")),
    ((10, "peak: 10–20, 1,000", "peak"), (11, "knee: 11", "knee"), (12, "capacity", "capacity")),
]


@pytest.mark.parametrize("found", CROSSED)
def test_no_line_of_a_finding_runs_through_the_words_of_another(found):
    flags = arranged(*found)
    assert len(flags) == len(found)
    for words_of, line in itertools.permutations(flags, 2):
        reaches = line.row <= words_of.row
        assert not (reaches and words_of.start < line.x < words_of.end)


def test_findings_differ_without_their_colour():
    assert len({dash for _, dash in findings.LOOKS.values()}) == len(findings.LOOKS) == 3


def test_findings_stand_above_the_highest_point(make_level, make_result):
    found = make_result("ladder", [make_level(*row) for row in STEEP], ["p95 < 30ms"])
    figure = draw(lambda: ladder_figure.qps_ttlb(LadderChart.of(found)))
    top = max(y for _, y in points(figure))
    texts = figure.axes[0].texts
    assert {text.get_text() for text in texts} == {
        "knee: 100",
        "peak from 110 on",
        "capacity under SLO: 110",
    }
    assert all(Text.get_window_extent(text).y0 > top for text in texts)


@pytest.mark.parametrize(
    ("rates", "words"),
    [
        ((900, 1900, 1950, 1940), "peak from 100 on"),
        ((900, 1900, 1950, 1500), "peak: 100–110"),
        ((900, 1900, 1500, 1940), "peak: 100, 120"),
        ((900, 1900, 1500, 1400), "peak: 100"),
        ((900, 1000, 1500, 2000), "peak: 120"),
    ],
)
def test_a_peak_goes_on_only_where_every_higher_level_is_on_its_plateau(
    make_level, make_result, rates, words
):
    levels = [make_level(n, float(r), 5.0) for n, r in zip((50, 100, 110, 120), rates, strict=True)]
    peak = LadderChart.of(make_result("ladder", levels)).findings[0]
    assert peak.words == words


def test_a_level_that_claims_nothing_is_on_no_plateau(make_level, make_result):
    levels = [make_level(n, 2000.0, 5.0) for n in (50, 100)]
    levels.append(make_level(200, 2000.0, 5.0, verdict="generator-limited"))
    assert LadderChart.of(make_result("ladder", levels)).findings[0].words == "peak: 50–100"
