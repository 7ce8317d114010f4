"""How often the words are wrong, and how often a true difference is found: by simulation."""

from __future__ import annotations

from random import Random

import pytest

from torr.stats.comparison import Procedure, verdicts
from torr.stats.looks import ALPHA_OF_A_LOOK, LOOKS

RATE = Procedure(metrics=())
FOUND = {"better", "worse"}


def matrix(random, rounds, sd, factor=1.0, cells=1):
    """Interleaved trials that drift alike: `sd` is of one trial within its round."""
    levels = []
    for cell in range(cells):
        for at in range(1, rounds + 1):
            drift = 1000 * random.lognormvariate(0, 0.1)
            for name, its in (("a", 1.0), ("b", factor)):
                levels.append(
                    {
                        "candidate": name,
                        "factors": {"cell": cell},
                        "round": at,
                        "concurrency": 1,
                        "counts": {"attempted": 9, "ok": 9},
                        "ok_per_s": drift * its * random.lognormvariate(0, sd),
                    }
                )
    return levels


def share_found(count, seed, **shape):
    """How many of so many matrices have any better or worse in them."""
    random = Random(seed)
    found = 0
    for _ in range(count):
        words = {v["word"] for v in verdicts(matrix(random, **shape), "a", RATE)}
        found += bool(words & FOUND)
    return found / count


@pytest.mark.parametrize("sd", [0.02, 0.08])
def test_no_more_than_one_in_twenty_of_equal_matrices_has_a_false_word(sd):
    assert share_found(2000, seed=7, rounds=10, sd=sd) <= 0.06


def test_a_family_of_cells_has_the_error_of_one():
    assert share_found(600, seed=11, rounds=10, sd=0.08, cells=4) <= 0.06


@pytest.mark.parametrize(
    ("factor", "rounds", "sd", "least"),
    [
        (1.05, 10, 0.02, 0.95),
        (1 / 1.05, 10, 0.02, 0.95),
        (1.2, 10, 0.05, 0.99),
        (1.2, 6, 0.02, 0.99),
    ],
)
def test_a_true_difference_is_found(factor, rounds, sd, least):
    assert share_found(400, seed=13, factor=factor, rounds=rounds, sd=sd) >= least


def test_three_looks_together_keep_the_error():
    random, wrong = Random(17), 0
    for _ in range(400):
        levels = matrix(random, LOOKS[-1], 0.08)
        words = {
            verdict["word"]
            for look in LOOKS
            for verdict in verdicts(
                [level for level in levels if level["round"] <= look],
                "a",
                Procedure(metrics=(), alpha=ALPHA_OF_A_LOOK),
            )
        }
        wrong += bool(words & FOUND)
    assert wrong / 400 <= 0.06
