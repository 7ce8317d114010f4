from random import Random

import pytest

from torr.stats import looks
from torr.stats.comparison import Procedure, verdicts
from torr.stats.trials import Cell


def rounds(count, factor, sd, seed=1):
    random = Random(seed)
    before = [1000 * (1 + sd * random.gauss(0, 1)) for _ in range(count)]
    return before, [1000 * factor * (1 + sd * random.gauss(0, 1)) for _ in range(count)]


@pytest.mark.parametrize(
    ("done", "look"), [(0, 10), (9, 10), (10, 20), (19, 20), (20, 40), (40, None), (41, None)]
)
def test_there_are_three_looks(done, look):
    assert looks.next_look(done) == look


def test_what_is_settled_does_not_go_on(trials):
    assert looks.unsettled(trials(*rounds(10, 1.2, 0.01)), "a") == {}
    assert looks.unsettled(trials(*rounds(10, 1.0, 0.002)), "a") == {}


@pytest.mark.parametrize(("count", "look"), [(10, 20), (20, 40), (40, None)])
def test_what_is_inconclusive_goes_on_to_the_last_look(trials, count, look):
    levels = trials(*rounds(count, 1.02, 0.2))
    going = looks.unsettled(levels, "a")
    assert going == ({} if look is None else {Cell.of(levels[0]): look})


def test_between_two_looks_nothing_is_judged(trials):
    levels = trials(*rounds(13, 1.5, 0.001))
    assert looks.unsettled(levels, "a") == {Cell.of(levels[0]): 20}


def test_only_inconclusive_cells_go_on(trials):
    settled, open_ = trials(*rounds(10, 1.2, 0.01)), trials(*rounds(10, 1.02, 0.2))
    for level in open_:
        level["factors"] = {"processes": 4}
    going = looks.unsettled([*settled, *open_], "a")
    assert {cell.factors["processes"]: look for cell, look in going.items()} == {4: 20}


def test_what_more_rounds_cannot_settle_does_not_go_on(trials):
    levels = trials(*rounds(10, 1.02, 0.2))
    levels[0]["health"] = {"verdict": "generator-limited"}
    assert looks.unsettled(levels, "a") == {}


def test_each_look_has_a_third_of_the_error(trials):
    # Nine rounds up and a small one down: p = 0.0039, that of 9 comparisons 0.035.
    before, after = [1000.0] * 10, [*(1100.0 + n for n in range(9)), 999.0]
    levels = [
        {**level, "factors": {"processes": n}} for n in range(9) for level in trials(before, after)
    ]
    procedure = Procedure(metrics=(), alpha=0.05)
    assert {v["word"] for v in verdicts(levels, "a", procedure)} == {"better"}
    assert set(looks.unsettled(levels, "a").values()) == {20}
