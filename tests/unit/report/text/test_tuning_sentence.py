"""The sentences of a tuning."""

import math

import pytest

from torr.messages.message import message
from torr.messages.say import render
from torr.model.condition import Condition
from torr.model.settings import TunedParameter, settings_of
from torr.report.text.tuning_sentence import bound, verdict
from torr.results.experiment import Experiment
from torr.results.result import RunResult
from torr.results.tuning import SettingOut, TuningOutcome
from torr.results.verdict import Verdict
from torr.stats.metric import named
from torr.tuning.outcome import outcome_of
from torr.tuning.procedure import TuneFindings, TuneReplay
from torr.verdicts.slo_evidence import SloEvidence
from torr.verdicts.tuning import FreshValue, judge_finalists

WIGGLE = [0.0, 0.01, -0.01, 0.004, -0.006, 0.008, -0.002, 0.006, -0.008, 0.002]
PARAMETERS = [TunedParameter("workers", (1, 6, 4, 8))]
SLO = (Condition.parse("p95 < 500ms"),)


def result(outcome, metric="ok/s"):
    return RunResult(
        schema_=2,
        torr="0",
        kind="tune",
        name="t",
        started="2026-01-01T00:00:00Z",
        status="complete",
        experiment=Experiment(parameters=PARAMETERS, default=0, primary=named(metric).key),
        tuning=outcome,
    )


def said_of(rounds, default, finalists, slos=SLO, metric="ok/s"):
    """Return the sentence about fresh rounds, in English."""
    judged = judge_finalists(rounds, default, finalists, metric=named(metric))
    replay = TuneReplay(TuneFindings(tuple(finalists), judged, (), ()), None)
    outcome = outcome_of(replay, {}, settings_of(PARAMETERS), named(metric), slos)
    return render(verdict(result(outcome, metric)), "en")


def said(ratios, excesses=None, slos=SLO, metric="ok/s", count=10):
    """Return the sentence of settings with these ratios to the default, in English."""
    rounds = [
        {
            setting: FreshValue(
                100 * ratio * math.exp(WIGGLE[(number + setting) % 10] if setting else 0.0),
                tuple([SloEvidence.exact(excesses[setting] if excesses else -0.2)] * len(slos)),
            )
            for setting, ratio in enumerate(ratios)
        }
        for number in range(count)
    ]
    return said_of(rounds, 0, range(1, len(ratios)), slos, metric)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (
            said([1.0, 1.1, 1.1, 0.8]),
            (
                "workers 6 is at least 3 % faster than the default: 10.0 % (98.3 % interval:"
                " 9.2–10.8 %), 10 fresh rounds, SLO held (p95 ≤ 409 ms). 1 finalist cannot be told"
                " apart from it: take the cheaper one."
            ),
        ),
        (
            said([1.0, 1.1, 1.1, 1.1], slos=()),
            (
                "workers 6 is at least 3 % faster than the default: 10.0 % (98.3 % interval:"
                " 9.2–10.8 %), 10 fresh rounds. 2 finalists cannot be told apart from it: take the"
                " cheapest."
            ),
        ),
        (
            said([1.0, 1.1, 1.1], [-0.2, 0.2, -0.2]),
            "An SLO is broken by workers 6. workers 4 is at least 3 % faster than the default:",
        ),
        (
            said([1.0, 1.1, 1.1], [-0.2, 0.0, -0.2]),
            "An SLO is not shown for workers 6. workers 4 is at least 3 % faster than the default:",
        ),
        (said([1.0, 1.0]), "workers 6 and the default are the same (98.3 % interval: −"),
        (
            said([1.0, 1.1], slos=(), count=5),
            (
                "workers 6 is not shown to differ from the default (no interval), 5 fresh rounds."
                " Keep the default, unless the setting is cheaper."
            ),
        ),
        (
            said([1.0, 0.8], [0.2, -0.2]),
            (
                "workers 6 is slower than the default by 20.0 % (98.3 % interval: 19.4–20.6 %), 10"
                " fresh rounds, SLO held (p95 ≤ 409 ms). It is recommended since the default breaks"
                " an SLO."
            ),
        ),
        (
            said([1.0, 1.1, 1.1], [-0.2, 0.2, 0.0]),
            "No finalist is shown to keep the SLOs in 10 fresh rounds: keep the default.",
        ),
        (
            said([1.0, 0.8]),
            (
                "workers 6 is slower than the default by 20.0 % (98.3 % interval: 19.4–20.6 %), 10"
                " fresh rounds: keep the default."
            ),
        ),
        (
            said([1.0, 0.8], metric="p99"),
            (
                "workers 6 is at least 3 % faster by p99 than the default: 20.0 % (98.3 % interval:"
                " 19.4–20.6 %)"
            ),
        ),
    ],
)
def test_a_verdict_is_one_sentence(told, expected):
    assert told.startswith(expected)


def test_the_end_of_a_sentence_says_what_to_do():
    assert said([1.0, 1.001], slos=()).endswith(", 10 fresh rounds. Take the cheaper one.")
    assert said([1.0, 1.0], [0.0, -0.2]).endswith(
        "It is recommended since the default is not shown to keep the SLOs."
    )


def test_finalists_that_all_crash_are_said_to():
    rounds = [{0: FreshValue(100.0)} for _ in range(10)]
    text = said_of(rounds, 0, [], slos=())
    assert text == "No finalist could be measured in 10 fresh rounds: keep the default."


def test_a_reason_for_which_no_finalist_is_shown_to_keep_the_slos_is_said():
    why = message("a", "p99 needs 1,000 answers, there were 312")
    rounds = [
        {n: FreshValue(100.0 + n, (SloEvidence(why=why),)) for n in (0, 1)} for _ in range(10)
    ]
    assert said_of(rounds, 0, [1]) == (
        "No finalist is shown to keep the SLOs in 10 fresh rounds (p99 needs 1,000 answers, there"
        " were 312): keep the default."
    )


def test_a_number_that_must_be_high_has_a_lower_bound():
    assert "ok/s ≥ 122/s" in said([1.0, 1.1], slos=(Condition.parse("ok/s > 100"),))


def test_times_beside_more_errors_are_not_comparable():
    rounds = [
        {0: FreshValue(100.0, (), 0, 1000), 1: FreshValue(50.0, (), 300, 1000)} for _ in range(10)
    ]
    assert said_of(rounds, 0, [1], (), "p99") == (
        "workers 6 is not comparable with the default (error rates lie more than 1 point apart,"
        " 0 % and 30 %: times are of ok answers), 10 fresh rounds: keep the default."
    )


def test_if_the_generator_was_the_limit_nothing_is_recommended():
    outcome = TuningOutcome(is_complete=True, out=[SettingOut(1, "limited")])
    assert render(verdict(result(outcome)), "en") == (
        "No setting but the default could be measured: the generator was the limit."
    )


def test_without_a_measured_setting_the_default_stays():
    text = render(verdict(result(TuningOutcome(is_complete=True))), "en")
    assert text == "No setting but the default could be measured: keep the default."


@pytest.mark.parametrize(
    ("finalists", "ending"),
    [([], "the search is not over."), ([1, 2], "the fresh rounds have begun.")],
)
def test_before_the_first_look_there_is_no_verdict(finalists, ending):
    outcome = TuningOutcome(is_complete=False, finalists=finalists)
    text = render(verdict(result(outcome)), "en")
    assert text.startswith("No verdict yet, after 0 trials: ")
    assert text.endswith(ending)


def test_a_default_that_could_not_be_measured_is_said():
    rounds = [{1: FreshValue(100.0 + number, (SloEvidence.exact(-0.2),))} for number in range(10)]
    assert said_of(rounds, None, [1]) == (
        "workers 6 is not compared with the default, which could not be measured, 10 fresh rounds,"
        " SLO held (p95 ≤ 409 ms)."
    )


@pytest.mark.parametrize(
    ("condition", "word", "expected"),
    [
        ("p95 < 500ms", "held", "p95 ≤ 450 ms"),
        ("p95 < 500ms", "broken", "p95 ≥ 400 ms"),
        ("p95 < 500ms", "not shown", "p95 400 ms–450 ms"),
        ("ok/s > 100", "held", "ok/s ≥ 400/s"),
        ("ok/s > 100", "broken", "ok/s ≤ 450/s"),
    ],
)
def test_the_end_of_an_interval_that_is_shown(condition, word, expected):
    slo = Verdict(metric="", condition=condition, word=word, interval=(400.0, 450.0))
    assert bound(slo) == expected
    assert bound(Verdict(metric="", condition=condition, word=word)) == "–"


@pytest.mark.parametrize("word", ["broken", "not shown"])
@pytest.mark.parametrize("interval", [None, (None, 500.0)])
def test_without_a_number_the_reason_is_shown(word, interval):
    why = message("a", "p99 needs 1,000 answers, there were 312")
    slo = Verdict(metric="", condition="p99 < 1s", word=word, interval=interval, reason=why)
    assert bound(slo) == why
