from dataclasses import replace

import msgspec
import pytest

from torr.errors import UsageError
from torr.report.data.diff import bound, show_ratio, show_sides
from torr.report.data.diff import sides as sides_of
from torr.report.files import markdown
from torr.report.tables import level_table
from torr.report.text import sentence, trust
from torr.results.result import decoded, encoded
from torr.results.series import LevelPoint
from torr.stats.series import Series
from torr.verdicts import diff

A = Series("bare", (LevelPoint(200, 1000.0, 2.0, 100.0), LevelPoint(500, 900.0, 5.0, 100.0)))
B = Series("api", (LevelPoint(200, 500.0, 6.0, 99.5), LevelPoint(1000, 400.0, 9.0, 90.0)))


def ratios(result, metric):
    return {v.concurrency: v.ratio for v in result.verdicts if v.metric == metric}


def test_ratios_are_of_the_second_to_the_first_at_common_levels():
    found = diff.ratios(A, B)
    assert found.name == "bare_api"
    assert ratios(found, "ok_per_s") == {200: 0.5}
    assert ratios(found, "service_ms.mean") == {200: 3.0}


def test_success_is_a_difference_in_points_not_a_ratio():
    (found,) = (v for v in diff.ratios(A, B).verdicts if v.metric == "success_rate")
    assert (found.ratio, found.difference) == (None, -0.5)


def test_one_run_each_has_no_verdict():
    found = diff.ratios(A, B).verdicts
    assert {verdict.word for verdict in found} == {None}
    assert {verdict.reason for verdict in found} == {"one run each"}


def test_rounds_and_shared_machines_are_said():
    point = msgspec.structs.replace(B.points[0], rounds=3, at_least=True)
    (found, *_) = diff.ratios(A, Series("api", (point,))).verdicts
    assert found.reason == (
        "1 and 3 rounds, not interleaved; a machine was shared by client and target"
    )


def shared(series, *levels):
    """The series with these levels measured on a machine that client and target shared."""
    points = (msgspec.structs.replace(p, at_least=p.concurrency in levels) for p in series.points)
    return replace(series, points=tuple(points))


BOTH = Series("new", (LevelPoint(200, 500.0, 6.0, 100.0), LevelPoint(500, 1800.0, 9.0, 100.0)))


@pytest.mark.parametrize(
    ("a", "b", "ratio", "values"),
    [
        (A, BOTH, "0.50 ×", ("1,000", "500")),
        (A, shared(BOTH, 200), "≥ 0.50 ×", ("1,000", "≥ 500")),
        (shared(A, 200), BOTH, "≤ 0.50 ×", ("≥ 1,000", "500")),
        (shared(A, 200), shared(BOTH, 200), "0.50 × ?", ("≥ 1,000", "≥ 500")),
    ],
)
def test_a_lower_bound_bounds_the_ratio_on_the_side_that_it_can(a, b, ratio, values):
    found = diff.ratios(a, b)
    first = found.verdicts[0]
    assert show_ratio(first) == ratio
    assert show_sides(first) == values
    assert level_table.ratios(found).rows[0][1:4] == (*values, ratio)
    # Times have no bound that is known, and the other level was not shared.
    others = (v for v in found.verdicts if v.metric != "ok_per_s" or v.concurrency != 200)
    assert not any(bound(verdict.bounds) for verdict in others)


@pytest.mark.parametrize(
    ("a", "b", "says"),
    [
        (A, BOTH, "new answers 0.50–2.00 × the requests/s of bare at 2 common levels; best"),
        (A, shared(BOTH, 200, 500), "new answers ≥ 0.50–2.00 × the requests/s of bare at 2 common"),
        (shared(A, 200, 500), BOTH, "new answers ≤ 0.50–2.00 × the requests/s of bare at 2 common"),
        (A, shared(BOTH, 500), " at 2 common levels, some of them bounds; best against best"),
        (
            shared(A, 200, 500),
            shared(BOTH, 200, 500),
            " at 2 common levels, but both rates are lower bounds: the true ratio is unknown; best",
        ),
        (
            shared(A, 200),
            shared(BOTH, 200, 500),
            ", at 1 of which both rates are lower bounds and the true ratio is unknown; best",
        ),
        (A, shared(BOTH, 500), "best ≥ 1,800 (at 500) to 1,000 (at 200), ≥ 1.80 ×; one run each"),
    ],
)
def test_the_sentence_says_what_its_ratios_are_worth(a, b, says):
    assert says in sentence.verdict(diff.ratios(a, b))


def test_trust_names_the_sides_and_levels_that_are_lower_bounds():
    found = diff.ratios(shared(A, 200), shared(BOTH, 200, 500))
    assert trust.health(found) == "contended"
    assert trust.trust(found) == (
        "Both ran without interleaving: drift between them is not excluded · client and target "
        "shared a machine in bare (at 200 connections) and in new: those rates are ≥, their "
        "ratios bounds · ?: both rates are lower bounds, so the true ratio is unknown."
    )
    assert "0.50 × ?" in markdown.text(found)
    assert trust.health(diff.ratios(A, BOTH)) == "unknown"


def test_a_diff_kept_without_bounds_is_read_as_exact():
    found = diff.ratios(A, BOTH)
    older = [msgspec.structs.replace(verdict, bounds=None) for verdict in found.verdicts]
    found = msgspec.structs.replace(found, verdicts=older)
    assert level_table.ratios(found).rows[0][1:4] == ("1,000", "500", "0.50 ×")


def test_no_common_level_is_an_error_that_names_the_levels():
    other = Series("api", (LevelPoint(1000, 400.0, 9.0, 90.0),))
    with pytest.raises(UsageError, match="no level in common: 200, 500 against 1000"):
        diff.ratios(A, other)


def test_two_runs_of_one_name_are_told_apart():
    found = diff.ratios(A, A)
    assert [side.name for side in found.series] == ["bare (A)", "bare (B)"]
    assert found.name == "bare_bare"


def test_a_target_that_answers_nothing_has_no_ratio():
    nothing = Series("dead", (LevelPoint(200, 0.0, None, 0.0),))
    assert ratios(diff.ratios(nothing, B), "ok_per_s") == {200: None}


def test_both_sides_survive_the_result(sides):
    restored = sides_of(decoded(encoded(diff.ratios(*sides)), "result.json"))
    assert [side.name for side in restored] == ["bare", "apiserver"]
    assert restored[0].points[0].ok_per_s == sides[0].points[0].ok_per_s
