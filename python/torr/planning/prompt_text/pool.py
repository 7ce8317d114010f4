"""Pieces of a long text of random words, which are cut out by their number of words.

A piece is a slice of one string: words are drawn once, not for each prompt.
"""

from __future__ import annotations

from array import array
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

POOL_WORDS = 1 << 16

# So many words of the beginning are repeated behind the end, since most pieces are short.
_OVERLAP = 1 << 10


class WordPool:
    """A text of POOL_WORDS words, each behind a separator; behind its end it begins again."""

    def __init__(self, words: Sequence[str], separator: str, draw: random.Random) -> None:
        chosen = draw.choices(words, k=POOL_WORDS)
        chosen += chosen[:_OVERLAP]
        self._text = separator + separator.join(chosen)
        lengths = map(len(separator).__add__, map(len, chosen))
        # Where each word's separator is, and the end of the text.
        self._places = array("L", accumulate(lengths, initial=0))

    def piece(self, start: int, words: int) -> str:
        """Return so many words from a place on, each behind a separator."""
        start %= POOL_WORDS
        end = start + words
        if end <= POOL_WORDS + _OVERLAP:
            return self._text[self._places[start] : self._places[end]]
        whole = self._text[: self._places[POOL_WORDS]]
        times, rest = divmod(end, POOL_WORDS)
        return (whole * times + self._text[: self._places[rest]])[self._places[start] :]
