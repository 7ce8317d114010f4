"""The seeds of texts that torr makes up.

Loads on the same server have different seeds, so that its cache has no text of an earlier one.
"""

from __future__ import annotations

import random


def seed_of_round(seed: int, number: int | None) -> int:
    """Return the seed of a round of a comparison, the same for all of its candidates."""
    return _mixed(seed, f"round {number}") if number else seed


def seed_of_level(seed: int, number: int) -> int:
    """Return the seed of a level of a ladder; the first one has the number 0."""
    return _mixed(seed, f"level {number}") if number else seed


def _mixed(seed: int, what: str) -> int:
    return random.Random(f"{seed} {what}").getrandbits(63)  # noqa: S311 - no secret
