"""How often the words are wrong, and how often a true difference is found: by simulation."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
from msgspec.structs import replace

import typed
from torr.results.level import AttemptCounts
from torr.stats.metric import ERROR_RATE, Metric
from torr.verdicts.comparison import Procedure, unpaired, verdicts
from torr.verdicts.looks import ALPHA_OF_A_LOOK, LOOKS

RATE = Procedure(metrics=())
FOUND = {"better", "worse"}
TRIAL = typed.level(counts={"attempted": 9, "ok": 9})


def matrix(random, rounds, sd, factor=1.0, cells=1):
    """Interleaved trials that drift alike: `sd` is of one trial within its round."""
    levels = []
    for cell in range(cells):
        for at in range(1, rounds + 1):
            drift = 1000 * random.lognormvariate(0, 0.1)
            for name, its in (("a", 1.0), ("b", factor)):
                levels.append(
                    replace(
                        TRIAL,
                        candidate=name,
                        factors={"cell": cell},
                        round=at,
                        ok_per_s=drift * its * random.lognormvariate(0, sd),
                    )
                )
    return levels


def share_found(count, seed, **shape):
    """How many of so many matrices have any better or worse in them."""
    random = Random(seed)
    found = 0
    for _ in range(count):
        words = {v.word for v in verdicts(matrix(random, **shape), "a", RATE)}
        found += bool(words & FOUND)
    return found / count


@pytest.mark.parametrize("sd", [0.02, pytest.param(0.08, marks=pytest.mark.full)])
def test_no_more_than_one_in_twenty_of_equal_matrices_has_a_false_word(sd):
    assert share_found(800, seed=7, rounds=10, sd=sd) <= 0.06


def test_a_family_of_cells_has_the_error_of_one():
    assert share_found(300, seed=11, rounds=10, sd=0.08, cells=4) <= 0.06


@pytest.mark.parametrize(
    ("factor", "rounds", "sd", "least"),
    [
        (1.05, 10, 0.02, 0.95),
        (1 / 1.05, 10, 0.02, 0.95),
        pytest.param(1.2, 10, 0.05, 0.99, marks=pytest.mark.full),
        (1.2, 6, 0.02, 0.99),
    ],
)
def test_a_true_difference_is_found(factor, rounds, sd, least):
    assert share_found(400, seed=13, factor=factor, rounds=rounds, sd=sd) >= least


def test_three_looks_together_keep_the_error():
    random, wrong = Random(17), 0
    for _ in range(200):
        levels = matrix(random, LOOKS[-1], 0.08)
        words = {
            verdict.word
            for look in LOOKS
            for verdict in verdicts(
                [level for level in levels if level.round <= look],
                "a",
                Procedure(metrics=(), alpha=ALPHA_OF_A_LOOK),
            )
        }
        wrong += bool(words & FOUND)
    assert wrong / 200 <= 0.06


ERRORS = Procedure(primary=Metric(ERROR_RATE), metrics=())
ATTEMPTS = 5_000


def words_of_shares(count, seed, shares, *, rounds=10, drift=0.0, is_paired=True):
    """How often each word comes, where the attempts of two sides fail with these probabilities."""
    random = np.random.default_rng(seed)
    found = Counter()
    for _ in range(count):
        sides = [[], []]
        for at in range(1, rounds + 1):
            shared = random.lognormal(0, drift)
            for name, fails, side in zip("ab", shares, sides, strict=True):
                own = shared if is_paired else random.lognormal(0, drift)
                failed = int(random.binomial(ATTEMPTS, min(1.0, fails * own)))
                ok = ATTEMPTS - failed
                counts = AttemptCounts(attempted=ATTEMPTS, ok=ok, errors={"read": failed})
                share = 100 * ok / ATTEMPTS
                side.append(
                    replace(TRIAL, candidate=name, round=at, counts=counts, success_rate=share)
                )
        if is_paired:
            (verdict,) = verdicts([*sides[0], *sides[1]], "a", ERRORS)
        else:
            (verdict,) = unpaired(*sides, ("a", "b"), ERRORS)
        found[verdict.word] += 1
    return {word: times / count for word, times in found.items()}


@pytest.mark.parametrize("is_paired", [True, False])
@pytest.mark.parametrize(
    ("share", "drift"),
    [
        (0.0002, 0.0),
        (0.2, 0.5),
        pytest.param(0.001, 0.5, marks=pytest.mark.full),
        pytest.param(0.01, 0.0, marks=pytest.mark.full),
    ],
)
def test_equal_shares_of_errors_have_a_false_word_no_more_often(share, drift, is_paired):
    words = words_of_shares(400, 19, (share, share), drift=drift, is_paired=is_paired)
    assert sum(words.get(word, 0) for word in FOUND) <= 0.06


def test_errors_that_rise_from_none_to_one_in_a_thousand_are_never_the_same():
    rise = words_of_shares(300, 23, (0.0, 0.0009))
    assert rise["worse"] >= 0.99
    assert "same" not in rise
    fall = words_of_shares(300, 23, (0.0009, 0.0))
    assert fall["better"] >= 0.99
    few = words_of_shares(300, 29, (0.0, 0.0009), rounds=6)
    assert set(few) <= {"worse", "inconclusive"}


def test_equal_shares_of_errors_are_the_same_once_that_is_shown():
    words = words_of_shares(300, 31, (0.00001, 0.00001))
    assert words["same"] >= 0.9
