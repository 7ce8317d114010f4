"""The rows of tables for the turns of sessions."""

from __future__ import annotations

import pytest

from torr.planning.trace_turns import place_of, turn_names
from torr.sources.traces.row import TraceRow


def row(turn, *, is_branch=False):
    return TraceRow(0, 0, 0, turn, (), 0, 0, 1, 1, is_branch=is_branch)


@pytest.mark.parametrize(
    ("turns", "name"),
    [
        ((1,), "turn 1"),
        ((8,), "turn 8"),
        ((9, 16), "turns 9–16"),
        ((17, 32), "turns 17–32"),
        ((33, 64), "turns 33–64"),
        ((65, 128), "turns 65–128"),
        ((129, 10_000), "later turns"),
    ],
)
def test_each_turn_has_the_row_with_its_name(turns, name):
    names = turn_names(has_branches=False)
    assert [names[place_of(row(turn))] for turn in turns] == [name] * len(turns)


def test_requests_of_sub_agents_have_one_row_whatever_their_turn_is():
    names = turn_names(has_branches=True)
    assert names[:-1] == turn_names(has_branches=False)
    assert {names[place_of(row(turn, is_branch=True))] for turn in (1, 300)} == {"sub-agents"}
