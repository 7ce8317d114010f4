from random import Random

import pytest
from msgspec.structs import replace

import typed
from torr.stats.trials import Cell
from torr.verdicts import looks
from torr.verdicts.comparison import Procedure, verdicts


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
    assert looks.unsettled(trials(*rounds(10, 1.2, 0.01)), "a", look=10) == set()
    assert looks.unsettled(trials(*rounds(10, 1.0, 0.002)), "a", look=10) == set()


@pytest.mark.parametrize(("look", "goes_on"), [(10, True), (20, True), (40, False)])
def test_what_is_inconclusive_goes_on_to_the_last_look(trials, look, goes_on):
    levels = trials(*rounds(look, 1.02, 0.2))
    assert looks.unsettled(levels, "a", look=look) == ({Cell.of(levels[0])} if goes_on else set())


def test_a_round_that_was_lost_keeps_no_settled_cell_open(trials):
    levels = [x for x in trials(*rounds(10, 1.2, 0.01)) if x.round != 4]
    assert looks.unsettled(levels, "a", look=10) == set()


def test_a_look_does_not_see_the_rounds_behind_it(trials):
    before, after = rounds(10, 1.02, 0.2)
    levels = trials([*before, *[1000.0] * 30], [*after, *[1500.0 + at for at in range(30)]])
    assert looks.unsettled(levels, "a", look=20) == set()
    assert looks.unsettled(levels, "a", look=10) == {Cell.of(levels[0])}


def test_nobody_waits_for_who_was_given_up(trials):
    levels = trials(*rounds(10, 1.02, 0.2))
    cell = Cell.of(levels[0])
    for name, goes_on in (("a", set()), ("b", set()), ("c", {cell})):
        assert looks.unsettled(levels, "a", look=10, gone={(name, cell)}) == goes_on


def test_only_inconclusive_cells_go_on(trials):
    settled, open_ = trials(*rounds(10, 1.2, 0.01)), trials(*rounds(10, 1.02, 0.2))
    other = [replace(level, factors={"processes": 4}) for level in open_]
    going = looks.unsettled([*settled, *other], "a", look=10)
    assert {cell.factors["processes"] for cell in going} == {4}


def test_what_more_rounds_cannot_settle_does_not_go_on(trials):
    levels = trials(*rounds(10, 1.02, 0.2))
    levels[0] = typed.changed(levels[0], health={"verdict": "generator-limited"})
    assert looks.unsettled(levels, "a", look=10) == set()


def test_each_look_has_a_third_of_the_error(trials):
    # Nine rounds up and a small one down: p = 0.0039, that of 9 comparisons 0.035.
    before, after = [1000.0] * 10, [*(1100.0 + n for n in range(9)), 999.0]
    levels = [
        replace(level, factors={"processes": n})
        for n in range(9)
        for level in trials(before, after)
    ]
    procedure = Procedure(metrics=(), alpha=0.05)
    assert {v.word for v in verdicts(levels, "a", procedure)} == {"better"}
    assert len(looks.unsettled(levels, "a", look=10)) == 9
