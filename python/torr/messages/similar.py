"""The hint for a name that is unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import Text, say

if TYPE_CHECKING:
    from collections.abc import Iterable


def did_you_mean(name: str, names: Iterable[str], cutoff: float = 0.6) -> Text | None:
    """Return a hint with the most similar of the known names; None where none is similar."""
    from difflib import get_close_matches  # only errors need it

    similar = get_close_matches(name, list(names), 1, cutoff)
    return say("did you mean {similar}?", similar=similar[0]) if similar else None
