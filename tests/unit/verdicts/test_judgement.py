import math

import pytest

from torr.verdicts.judgement import (
    Evidence,
    judge,
    least_rounds,
    margin_of_shares,
    rounds_to_settle,
)

MARGIN = math.log(1.03)


def evidence(**known):
    """Ten rounds of a candidate that is 10 % up in something of which more is better."""
    return Evidence(
        **{
            "count": 10,
            "family": 1,
            "centre": 0.1,
            "inner": (0.08, 0.12),
            "spread": 0.02,
            "p_adjusted": 0.002,
            "margin": MARGIN,
            "more_is_better": True,
            **known,
        }
    )


NEAR = {"centre": 0.005, "inner": (-0.01, 0.02)}
WIDE = {"centre": 0.02, "inner": (-0.02, 0.06), "p_adjusted": 0.3, "spread": 0.05}


@pytest.mark.parametrize(
    ("known", "word", "reason"),
    [
        ({}, "better", None),
        ({"more_is_better": False}, "worse", None),
        ({"centre": -0.1, "inner": (-0.12, -0.08)}, "worse", None),
        ({**NEAR, "p_adjusted": 0.4}, "same", None),
        (NEAR, "same", "real, below the margin"),
        (WIDE, "inconclusive", "about 52 rounds would settle it"),
        ({"p_adjusted": 0.06}, "inconclusive", "about 11 rounds would settle it"),
        # Too few rounds come before sameness and difference.
        ({"count": 5}, "inconclusive", "5 rounds, 6 are needed"),
        ({"count": 1, "is_paired": False}, "inconclusive", "1 trial, 6 are needed"),
        (
            {"family": 60},
            "inconclusive",
            "10 rounds cannot decide any of 60 comparisons: 12 are needed",
        ),
        # What forbids any claim comes before all.
        ({"count": 5, "obstacle": "the generator was the limit"}, "inconclusive", "the generator"),
        ({"none_seen": 0.003}, "same", "none seen, ≤ 0.003 % (3/n)"),
        ({"none_seen": 0.09, "margin": 0.01}, "same", "none seen, ≤ 0.09 % (3/n)"),
        ({"none_seen": 3.0}, "inconclusive", "none seen, ≤ 3 % (3/n)"),
        ({"none_seen": 0.003, "count": 5}, "inconclusive", "5 rounds"),
        # Sameness is asked before a difference.
        ({"inner": (0.01, 0.029), "centre": 0.02}, "same", "real, below the margin"),
        ({"inner": (0.01, 0.031), "centre": 0.02}, "better", None),
        # A share that is shown to differ is never the same.
        ({**NEAR, "is_share": True, "p_adjusted": 0.4}, "same", None),
        ({**NEAR, "is_share": True}, "better", "real, below the margin"),
        ({**NEAR, "is_share": True, "more_is_better": False}, "worse", "real, below the margin"),
        ({"centre": -math.inf, "inner": (-math.inf, -1.0), "spread": None}, "worse", None),
        (
            {"centre": math.inf, "inner": (-1.0, math.inf), "spread": None, "p_adjusted": 0.5},
            "inconclusive",
            "neither a difference nor equality is shown",
        ),
    ],
)
def test_the_first_question_that_answers_gives_the_word(known, word, reason):
    found = judge(evidence(**known))
    assert found.word == word
    assert (found.reason or "").startswith(reason or "")
    assert (found.reason is None) == (reason is None)


@pytest.mark.parametrize(
    ("baseline", "margin"),
    [(None, 0.01), (0.0, 0.01), (0.1, 0.01), (0.5, 0.05), (5.0, 0.1), (99.5, 0.05), (100.0, 0.01)],
)
def test_shares_are_the_same_within_a_tenth_of_the_rarer_outcome(baseline, margin):
    assert margin_of_shares(baseline) == pytest.approx(margin)


def test_a_stricter_look_needs_a_smaller_p():
    assert judge(evidence(p_adjusted=0.03)).word == "better"
    assert judge(evidence(p_adjusted=0.03, alpha=0.05 / 3)).word == "inconclusive"


@pytest.mark.parametrize(
    ("family", "alpha", "rounds"),
    [
        (1, 0.05, 6),
        (2, 0.05, 7),
        (3, 0.05, 7),
        (60, 0.05, 12),
        (8, 0.05 / 3, 10),
        (9, 0.05 / 3, 11),
    ],
)
def test_the_least_rounds_can_just_decide_a_family(family, alpha, rounds):
    assert least_rounds(family, alpha) == rounds
    assert rounds == 6 or family * 2 / 2**rounds <= alpha < family * 2 / 2 ** (rounds - 1)


def test_the_smaller_number_of_rounds_settles_it():
    # 1.05 · (2.8 · 0.05 / 0.02)² and 1.05 · (2.93 · 0.05 / (ln 1.03 − 0.02))².
    assert rounds_to_settle(0.02, 0.05, MARGIN) == 52
    assert rounds_to_settle(0.0, 0.02, MARGIN) == math.ceil(1.05 * (2.93 * 0.02 / MARGIN) ** 2)
    assert rounds_to_settle(-0.05, 0.05, MARGIN) == math.ceil(1.05 * 2.8**2)
    assert rounds_to_settle(0.0, 0.02, 0.0) is None


@pytest.mark.parametrize(
    ("known", "more"),
    [
        (WIDE, 42),
        ({"p_adjusted": 0.06}, 1),
        ({"count": 4}, 2),
        ({**WIDE, "count": 4}, 48),
        ({"family": 60}, 2),
        ({"obstacle": "the generator was the limit"}, None),
        ({}, None),
    ],
)
def test_it_says_how_many_rounds_more_where_more_can_help(known, more):
    assert judge(evidence(**known)).more_rounds == more
