import io
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

import typed
from page import titles
from streamed import streaming
from torr.cli.display import diff as display
from torr.cli.screen import Screen
from torr.errors import UsageError
from torr.model.change import Change
from torr.model.condition import Condition
from torr.report.files import junit, markdown
from torr.report.tables import level_table, verdict_table
from torr.report.text import sentence, trust
from torr.results.result import decoded, encoded
from torr.results.series import LevelPoint
from torr.stats.series import Series
from torr.verdicts.diff import diff
from torr.verdicts.diff_side import RunReference, Side, of_result


@pytest.fixture
def make_side(make_level):
    """Make a ladder of rounds whose ok/s wobbles, in another way each round."""

    def make(name, rate, rounds=8, users=(10, 20), **more):
        levels = tuple(
            make_level(n, n * rate * (1 + (at * 7 % 5) / 1000), 2000 / rate, round=at + 1, **more)
            for at in range(rounds)
            for n in users
        )
        return Side(Series.of(name, levels), levels, run=name)

    return make


def beside(a, b, *changes):
    """The diff of two sides, as it is kept and read again."""
    found = diff(a, b, [Change.parse(text) for text in changes])
    return decoded(encoded(found), "result.json")


def of(result, metric, concurrency=10):
    (found,) = (v for v in result.verdicts if (v.metric, v.concurrency) == (metric, concurrency))
    return found


def test_two_runs_of_rounds_get_verdicts_that_are_marked(make_side):
    found = beside(make_side("old", 100.0), make_side("new", 110.0))
    rate = of(found, "ok_per_s")
    assert (rate.word, rate.n) == ("better", 8)
    assert rate.reason == "not interleaved: drift not excluded"
    assert rate.interval[0] < 1.1 < rate.interval[1]
    assert of(found, "response_ms.p99", 20).word == "better"
    assert of(found, "success_rate").word == "same"


def test_candidates_of_one_run_are_paired(make_side):
    old, new = make_side("old", 100.0), make_side("new", 110.0)
    old, new = replace(old, run="r", candidate="old"), replace(new, run="r", candidate="new")
    found = beside(old, new)
    rate = of(found, "ok_per_s")
    assert rate.method.startswith("paired by round")
    assert (rate.word, rate.reason, rate.p) == ("better", None, 2 / 2**8)
    assert trust.trust(found).startswith(
        "Both ran in each round, in turn: drift affects both equally · at least 8 trials"
    )


def test_two_rounds_a_side_are_too_few_and_one_has_no_word(make_side):
    found = beside(make_side("old", 100.0, 2), make_side("new", 110.0, 3))
    rate = of(found, "ok_per_s")
    assert rate.word == "inconclusive"
    assert rate.reason.startswith("2 trials, 6 are needed")
    single = of(beside(make_side("old", 100.0, 1), make_side("new", 110.0, 1)), "ok_per_s")
    assert (single.word, single.reason) == (None, "one run each")
    assert single.spreads[0] > 0


def test_a_side_with_itself_is_told_apart_by_name(make_side):
    found = beside(make_side("api", 100.0), make_side("api", 100.0))
    rate = of(found, "ok_per_s")
    assert (rate.baseline, rate.candidate, rate.word) == ("api (A)", "api (B)", "same")


def test_a_diff_has_the_profiles_of_both_under_the_names_of_its_sides(make_side):
    taken = typed.profile(concurrency=10, folded="a 1\n")
    sides = [replace(make_side("api", 100.0), profiles=(taken,)) for _ in "AB"]
    found = beside(*sides)
    assert [profile.candidate for profile in found.profiles] == ["api (A)", "api (B)"]
    assert beside(make_side("old", 100.0), make_side("new", 100.0)).profiles == []


def test_the_sentence_says_the_words_and_where(make_side):
    found = beside(make_side("old", 100.0), make_side("new", 110.0))
    assert sentence.verdict(found).endswith("1.10 ×; faster at 10 and 20.")
    assert trust.trust(found) == (
        "Both ran without interleaving: drift between them is not excluded · "
        "at least 8 trials a side."
    )
    partly = beside(make_side("old", 100.0, users=(10,)), make_side("new", 90.0, users=(10, 20)))
    assert sentence.verdict(partly).endswith("; slower at 10.")


def test_tables_show_every_verdict_with_its_interval(make_side):
    found = beside(make_side("old", 100.0), make_side("new", 110.0), "p99 > +10%", "ok/s < +5%")
    table = verdict_table.verdicts(found)
    assert table.columns[:4] == ("connections", "metric", "old", "new")
    row = next(row for row in table.rows if row[:2] == ("10", "ok/s"))
    assert row[4].endswith(" ×")
    assert row[6] == "8"
    assert row[-3:] == ("faster", "–", "not interleaved: drift not excluded")
    errors = next(row for row in table.rows if row[:2] == ("10", "success"))
    assert errors[2:6] == ("100 %", "100 %", "+0.00 points", "+0.00 to +0.00")
    assert [row[2] for row in verdict_table.limits(found).rows] == ["passed"] * 4
    text = markdown.text(found)
    assert "## Verdicts" in text
    assert "## Limits" in text
    assert titles(found) == ["Verdicts", "Limits", "Ratios"]


def streamed(side, ttft_ms):
    """Return a side whose responses stream; the time to the first token differs by round."""
    levels = tuple(
        streaming(level, ttft_ms * (1 + (level.round * 7 % 5) / 1000), texts=3, seed=level.round)
        for level in side.trials
    )
    return replace(side, series=Series.of(side.name, levels), trials=levels)


@pytest.fixture
def two_streamed(make_side):
    old, new = (make_side(name, 100.0, 6, (10,)) for name in ("old", "new"))
    return streamed(old, 100.0), streamed(new, 80.0)


def test_streams_have_ratios_verdicts_and_limits(two_streamed):
    found = beside(*two_streamed, "ttft p95 < -10%")
    ttft = of(found, "ttft_ms.p95")
    assert (ttft.word, of(found, "ttft_ms.mean").word) == ("better", "better")
    assert ttft.ratio == pytest.approx(0.8, rel=0.1)
    assert of(found, "tpot_ms.mean").word in ("same", "inconclusive")
    assert [limit.word for limit in found.fail_if] == ["broken"]
    assert titles(found) == ["Verdicts", "Limits", "Ratios", "Ratios of streams"]
    table = level_table.ratios_of_streams(found)
    assert table.columns[:4] == ("connections", "ttft mean old", "ttft mean new", "ratio")
    assert table.columns[-3:] == ("tokens/s old", "tokens/s new", "ratio")
    assert table.rows[0][3].startswith("0.8")
    out = io.StringIO()
    display.show(found, Screen(Console(file=out, width=80, soft_wrap=True)))
    lines = [line.split() for line in out.getvalue().splitlines()]
    columns = ["connections", "ttft", "mean", "ttft", "p95", "tpot", "mean", "tokens/s"]
    (changes,) = (lines[at + 1] for at, line in enumerate(lines) if line == columns)
    assert changes[::2] == ["10", "×", "×", "×", "×"]


def test_streams_of_one_run_each_have_ratios_alone(two_streamed):
    one_each = [replace(side, trials=()) for side in two_streamed]
    found = beside(*one_each)
    ttft = of(found, "ttft_ms.mean")
    assert (ttft.word, round(ttft.ratio, 1)) == (None, 0.8)


def test_what_one_side_did_not_stream_has_no_ratio_of_streams(two_streamed, make_side):
    found = beside(make_side("plain", 100.0, 6, (10,)), two_streamed[1])
    assert [verdict for verdict in found.verdicts if "ttft" in verdict.metric] == []
    assert titles(found) == ["Verdicts", "Ratios"]


def test_limits_fail_where_they_are_surely_passed(make_side):
    old, new = make_side("old", 100.0), make_side("new", 80.0)
    found = beside(old, new, "p99 > +10%", "ok/s < -20%", "p50 > +50%")
    words = {(x.condition, x.concurrency): x.word for x in found.fail_if}
    assert words["p99 > +10%", 10] == "broken"
    assert words["ok/s < -20%", 20] == "not shown"
    assert words["p50 > +50%", 10] == "held"


@pytest.mark.parametrize(
    ("rounds", "text", "says"),
    [
        (1, "p99 > +10%", "no level that both have was measured more than once"),
        (5, "p99 > +10%", "at least 6 trials of each side are needed, there are 5"),
        (8, "ttft p95 > +10%", "no trial of old has a number of ttft p95"),
        (8, "login: p99 > +10%", "no trial of old has a number of login: p99"),
    ],
)
def test_a_limit_that_no_trial_can_tell_is_refused(make_side, rounds, text, says):
    with pytest.raises(UsageError) as refused:
        beside(make_side("old", 100.0, rounds), make_side("new", 90.0, rounds), text)
    assert says in refused.value.message
    assert "--rounds 6" in refused.value.hint


def test_a_percentile_that_takes_more_answers_is_not_shown_and_passes(make_side):
    few = {"latency": {"response_ms": {"n": 900, "mean": 20.0}}}
    old, new = make_side("old", 100.0, 6, **few), make_side("new", 80.0, 6, **few)
    found = beside(old, new, "p99 > +10%").fail_if
    assert {(x.concurrency, x.word) for x in found} == {(10, "not shown"), (20, "not shown")}
    assert {x.reason for x in found} == {"too few responses in a trial for p99"}


def test_a_dat_has_no_trials_to_tell_a_limit_by(make_side):
    dat = Side(Series("old", (LevelPoint(10, 1000.0, 2.0, 100.0),)))
    with pytest.raises(UsageError, match="old has medians only"):
        beside(dat, make_side("new", 90.0), "p99 > +10%")


def test_a_limit_is_not_shown_where_the_generator_was_the_limit(make_side):
    old, new = make_side("old", 100.0), make_side("new", 80.0)
    first, *rest = new.trials
    limited = typed.changed(first, health={"verdict": "generator-limited"})
    found = beside(old, replace(new, trials=(limited, *rest)), "ok/s < -5%")
    words = {x.concurrency: (x.word, x.reason) for x in found.fail_if}
    assert words[10] == ("not shown", "the generator was the limit in 1 trial")
    assert words[20][0] == "broken"


def test_junit_fails_what_the_exit_code_fails_and_nothing_else(make_side):
    old, new = make_side("old", 100.0), make_side("n<e>w\x01", 80.0)
    changes = [Change.parse(text) for text in ("ok/s < -5%", "ok/s < -20%")]
    found = diff(old, new, changes)
    suite = ET.fromstring(junit.text(found))  # noqa: S314 - made right here
    cases = suite.findall("testcase")
    assert suite.get("tests") == str(len(cases)) == str(4 + len(found.verdicts))
    assert (suite.get("failures"), suite.get("skipped")) == ("2", "2")
    assert cases[0].get("name") == "ok/s < -5% at 10"
    assert cases[0].get("classname") == "old → n<e>w\ufffd"
    assert "-20" in cases[0].find("failure").get("message")
    slower = next(case for case in cases if case.get("name") == "ok/s at 10")
    assert slower.find("failure") is None
    assert slower.find("system-out").text.startswith("slower: 0.800 ×")


def test_junit_of_a_run_has_its_slos(make_level, make_result):
    run = make_result("run", [make_level(5, 100.0, 9.0)], ["p95 < 1ms", "p50 < 1s", "p99.99 < 1s"])
    suite = ET.fromstring(junit.text(run))  # noqa: S314 - made right here
    assert [(case.get("name"), [part.tag for part in case]) for case in suite] == [
        ("p95 < 1ms at 5", ["failure"]),
        ("p50 < 1s at 5", []),
        ("p99.99 < 1s at 5", ["skipped"]),
    ]


def test_candidates_of_a_comparison_get_words_as_sure_as_there(make_side):
    old, new = make_side("old", 100.0, rounds=7), make_side("new", 110.0, rounds=7)
    old, new = replace(old, run="r", candidate="old"), replace(new, run="r", candidate="new")
    assert of(beside(old, new), "ok_per_s").word == "better"
    looked = [replace(side, alpha=0.05 / 3) for side in (old, new)]
    rate = of(beside(*looked), "ok_per_s")
    assert (rate.word, rate.alpha) == ("inconclusive", 0.05 / 3)


def test_rounds_that_a_comparison_discarded_are_left_out_of_its_candidates_diff(make_side):
    old, new = make_side("old", 100.0), make_side("new", 110.0)
    old, new = replace(old, run="r", candidate="old"), replace(new, run="r", candidate="new")
    rule = Condition.parse("ok/s > 1102")
    found = of(beside(*(replace(side, rule=rule) for side in (old, new))), "ok_per_s")
    gone = found.discarded.rounds
    assert 0 < len(gone) < 8
    assert found.n == 8 - len(gone)


def side_of(name, levels, **more):
    return Side(Series.of(name, levels), tuple(levels), run=name, **more)


def test_a_limit_has_an_entry_at_each_common_level(make_side):
    """A percentile that needs more responses than a level has, and one that it has."""

    def without_p99(side):
        rare = {"latency": {"response_ms": {"p99": None}}}
        return side_of(
            side.name, [typed.patched(x, **rare) if x.concurrency == 10 else x for x in side.trials]
        )

    sides = [without_p99(make_side(name, rate)) for name, rate in (("old", 100.0), ("new", 99.0))]
    found = beside(*sides, "p99 > +10%").fail_if
    assert [(entry.concurrency, entry.word) for entry in found] == [(10, "not shown"), (20, "held")]
    assert found[0].reason == "too few responses in a trial for p99"
    one = replace(
        sides[1], trials=tuple(x for x in sides[1].trials if x.round == 1 or x.concurrency == 20)
    )
    found = beside(sides[0], one, "p50 > +10%").fail_if
    assert [(entry.concurrency, entry.word) for entry in found] == [(10, "not shown"), (20, "held")]
    assert found[0].reason == "at least 6 trials of each side are needed, there are 1"


def test_few_attempts_without_failures_show_no_limit_of_errors(make_side):
    few = {"counts": {"attempted": 10, "ok": 10, "errors": {}}}
    sides = [
        side_of(name, [typed.changed(x, **few) for x in make_side(name, 100.0).trials])
        for name in ("old", "new")
    ]
    (entry, _) = beside(*sides, "errors > +0.5 points").fail_if
    assert (entry.word, entry.interval) == ("not shown", (-3.75, 3.75))
    (entry, _) = beside(*sides, "errors > +5 points").fail_if
    assert entry.word == "held"
    many = beside(make_side("old", 100.0), make_side("new", 100.0), "errors > +0.5 points")
    assert [entry.word for entry in many.fail_if] == ["held", "held"]


def test_the_failures_of_a_named_request_are_its_own(trials):
    def sides(failed_of_login, failed):
        def with_login(level):
            is_new = level.candidate == "b"
            failures = failed_of_login if is_new else 0
            login = {
                "name": "login",
                "counts": {"attempted": 100, "ok": 100 - failures, "errors": {"read": failures}},
                "success_rate": 100.0 - failures,
                "latency": {"response_ms": {"n": 100, "p50": 5.0 if is_new else 10.0}},
            }
            return typed.changed(level, requests=[login], factors={})

        both = [with_login(x) for x in trials([100.0] * 8, [100.0] * 8, failed=failed)]
        return [side_of(name, [x for x in both if x.candidate == name]) for name in "ab"]

    limit = "login: p50 < -10%"
    (found,) = beside(*sides(60, 0), limit).fail_if
    assert found.word == "not shown"
    assert "error rates" in found.reason
    (found,) = beside(*sides(0, 0), limit).fail_if
    assert found.word == "broken"


def test_a_diff_of_two_candidates_discards_the_rounds_of_all(make_side):
    levels = [
        typed.changed(level, candidate=name, factors={})
        for name in "abc"
        for level in make_side(name, 100.0, users=(10,)).trials
    ]
    at = next(n for n, x in enumerate(levels) if (x.candidate, x.round) == ("c", 4))
    failed = {"attempted": 1000, "ok": 999, "errors": {"read": 1}}
    levels[at] = typed.changed(levels[at], counts=failed)
    rule = {"discard_if": "failures > 0"}
    result = typed.result(kind="compare", levels=levels, experiment=rule)
    sides = [of_result(result, RunReference.of("run", name)) for name in "ab"]
    found = of(beside(*sides), "ok_per_s")
    assert (found.n, found.discarded.rounds, found.discarded.because_of) == (7, [4], {"c": 1})


def test_the_verdicts_of_a_diff_of_rates_name_the_rate(make_side):
    def at_rates(side):
        return side_of(
            side.name,
            [typed.changed(x, rate=10.0 * x.concurrency, concurrency=100) for x in side.trials],
        )

    found = beside(at_rates(make_side("old", 100.0)), at_rates(make_side("new", 110.0)))
    table = verdict_table.verdicts(found)
    assert table.columns[0] == "arrivals/s"
    assert {row[0] for row in table.rows} == {"100", "200"}


def test_the_interval_of_a_limit_says_how_sure_it_is(make_side):
    sides = [replace(make_side(name, 100.0), alpha=0.05 / 3) for name in ("old", "new")]
    (entry, _) = beside(*sides, "p50 > +10%").fail_if
    assert entry.reason.startswith("the 96.7 % interval is ")
