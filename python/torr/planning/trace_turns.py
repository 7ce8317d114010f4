"""The rows of tables for the turns of sessions: one for each of the first, others for groups.

The requests of an agent show how its context grows. Those of its sub-agents have contexts of their
own, so that they do not count as its turns, and share a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import say

if TYPE_CHECKING:
    from torr.messages.say import Text
    from torr.sources.traces.row import TraceRow

NAMED_TURNS = 8
"""Turns that have a row each, a power of two."""
LAST_TURN = 128
"""Up to this turn, a row has as many turns as all rows before it; later ones share a row."""

_FIRST_BITS = NAMED_TURNS.bit_length()
_GROUPS = LAST_TURN.bit_length() - _FIRST_BITS
_LATER = NAMED_TURNS + _GROUPS


def turn_names(*, has_branches: bool) -> tuple[Text, ...]:
    """Return the names of the rows of tables in order."""
    groups = (NAMED_TURNS << number for number in range(_GROUPS))
    names = (
        *(say("turn {n}", n=turn) for turn in range(1, NAMED_TURNS + 1)),
        *(say("turns {first}–{last}", first=group + 1, last=2 * group) for group in groups),
        say("later turns"),
    )
    return (*names, say("sub-agents")) if has_branches else names


def place_of(row: TraceRow) -> int:
    """Return the place of a request's row among the names."""
    if row.is_branch:
        return _LATER + 1
    if row.turn <= NAMED_TURNS:
        return row.turn - 1
    return min(NAMED_TURNS + (row.turn - 1).bit_length() - _FIRST_BITS, _LATER)
