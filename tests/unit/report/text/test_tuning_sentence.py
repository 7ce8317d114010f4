"""The sentences of a tuning."""

import math

import pytest

from torr.messages.say import render
from torr.model.condition import Condition
from torr.report.text.tuning_sentence import TuningWords, sentence
from torr.stats.metric import Metric, named
from torr.verdicts.tuning import FreshValue, judge_finalists

WIGGLE = [0.0, 0.01, -0.01, 0.004, -0.006, 0.008, -0.002, 0.006, -0.008, 0.002]
NAMES = ["workers 1", "workers 6", "workers 4", "workers 8"]
SLO = (Condition.parse("p95 < 500ms"),)


def said(ratios, excesses=None, slos=SLO, metric=None, count=10):
    """Return the sentence of settings with these ratios to the default, in English."""
    rounds = [
        {
            setting: FreshValue(
                100 * ratio * math.exp(WIGGLE[(number + setting) % 10] if setting else 0.0),
                tuple([excesses[setting] if excesses else -0.2] * len(slos)),
            )
            for setting, ratio in enumerate(ratios)
        }
        for number in range(count)
    ]
    metric = named(metric or "ok/s")
    verdict = judge_finalists(
        rounds, 0, range(1, len(ratios)), more_is_better=metric.more_is_better
    )
    return render(sentence(verdict, TuningWords(NAMES, metric, slos)), "en")


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (
            said([1.0, 1.1, 1.1, 0.8]),
            (
                "workers 6 is at least 3 % faster than the default: 10.0 % (9.2–10.8 %), 10 fresh"
                " rounds, SLO shown (p95 ≤ 409 ms). 1 finalist cannot be told apart from it:"
                " take the cheaper one."
            ),
        ),
        (
            said([1.0, 1.1, 1.1, 1.1], slos=()),
            (
                "workers 6 is at least 3 % faster than the default: 10.0 % (9.2–10.8 %), 10 fresh"
                " rounds. 2 finalists cannot be told apart from it: take the cheapest."
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
        (said([1.0, 1.0]), "workers 6 and the default are the same (−"),
        (
            said([1.0, 1.1], slos=(), count=5),
            "workers 6 is not shown to differ from the default (no interval), 5 fresh rounds.",
        ),
        (
            said([1.0, 1.001], slos=()),
            "workers 6 and the default are the same (",
        ),
        (
            said([1.0, 1.1, 1.1], [-0.2, 0.2, 0.0]),
            "No finalist is shown to keep the SLOs in 10 fresh rounds: keep the default.",
        ),
        (
            said([1.0, 0.8]),
            (
                "workers 6 is slower than the default by 20.0 % (19.4–20.6 %), 10 fresh rounds:"
                " keep the default."
            ),
        ),
        (
            said([1.0, 0.8], metric="p99"),
            "workers 6 is at least 3 % faster by p99 than the default: 20.0 % (19.4–20.6 %)",
        ),
    ],
)
def test_a_verdict_is_one_sentence(told, expected):
    assert told.startswith(expected)


def test_a_number_that_must_be_high_has_a_lower_bound():
    assert "ok/s ≥ 122/s" in said([1.0, 1.1], slos=(Condition.parse("ok/s > 100"),))


def test_without_a_measured_setting_the_default_stays():
    words = TuningWords(NAMES, Metric("ok_per_s"), ())
    assert render(sentence(None, words), "en").endswith("keep the default.")


def test_a_default_that_could_not_be_measured_is_said():
    rounds = [{1: FreshValue(100.0 + number, (-0.2,))} for number in range(10)]
    verdict = judge_finalists(rounds, None, [1])
    text = render(sentence(verdict, TuningWords(NAMES, Metric("ok_per_s"), SLO)), "en")
    assert text == (
        "workers 6 is not compared with the default, which could not be measured, 10 fresh rounds,"
        " SLO shown (p95 ≤ 409 ms)."
    )
