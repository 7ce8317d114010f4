from collections import Counter
from itertools import pairwise

import pytest

from torr.stats import williams


def test_two_candidates_take_turns_in_being_first():
    assert williams.square(2) == [(0, 1), (1, 0)]
    assert williams.square(1) == [(0,)]


@pytest.mark.parametrize("count", range(2, 9))
def test_each_stands_everywhere_and_behind_each_other_equally_often(count):
    rows = williams.square(count)
    assert len(rows) == (count if count % 2 == 0 else 2 * count)
    places = Counter((at, name) for row in rows for at, name in enumerate(row))
    behind = Counter(pair for row in rows for pair in pairwise(row))
    assert len(places) == count * count
    assert len(behind) == count * (count - 1)
    assert len(set(places.values())) == len(set(behind.values())) == 1


@pytest.mark.parametrize("names", ["ab", "abc", "abcdef"])
def test_every_round_has_everybody_once(names):
    rounds = williams.order(list(names), 25, seed=3)
    assert len(rounds) == 25
    assert all(sorted(order) == list(names) for order in rounds)


def test_a_design_is_used_up_before_it_begins_anew():
    rounds = williams.order(["a", "b"], 20, seed=5)
    assert all({*rounds[at : at + 2]} == {("a", "b"), ("b", "a")} for at in range(0, 20, 2))


def test_the_seed_alone_says_the_order():
    names = list("abcdef")
    assert williams.order(names, 12, seed=1) == williams.order(names, 12, seed=1)
    assert len({tuple(williams.order(names, 12, seed=seed)) for seed in range(20)}) == 20
    assert williams.order(names, 12, seed=1) == williams.order(names, 30, seed=1)[:12]
