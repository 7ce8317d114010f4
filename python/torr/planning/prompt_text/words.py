"""The words that invented prompts consist of: syllables, chosen so that each has as many tokens.

Nearly every tokenizer has a token for a syllable of two letters with a space before it: these are
the words where no tokenizer is known. With a tokenizer, `calibrated` chooses words of one token
each; if it has none, as one of single bytes, it chooses words of the same small number of tokens.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Protocol

from torr.errors import UsageError
from torr.messages.say import say

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_WORDS = 64
"""So many words name a block in few words, and make texts that differ."""
LONGEST_WORD = 8
"""The most tokens of a word."""

_VOWELS = "aeiou"
_USUAL_STARTS = "bdfghklmnprstv"
_STARTS = "bdfghjklmnprstvwz"
_ENDS = "lmnrstkdpb"


def _joined(*parts: str) -> tuple[str, ...]:
    return tuple("".join(letters) for letters in product(*parts))


USUAL_WORDS = _joined(_USUAL_STARTS, _VOWELS) + _joined(_VOWELS, _ENDS)
"""Syllables that are one token for nearly every tokenizer.

Measured tokens of each: 1.00 with those of GPT-4, GPT-4o, DeepSeek and Mistral's Tekken, 1.01 of
Claude 2, 1.02 of Mistral 7B, 1.08 of GPT-3.
"""

CANDIDATES = tuple(
    dict.fromkeys(USUAL_WORDS + _joined(_STARTS, _VOWELS) + _joined(_STARTS, _VOWELS, _ENDS))
)
"""All syllables among which words are chosen."""

_VERIFIED_WORDS = (1, 17, 300)


class TokenCounter(Protocol):
    """Counts tokens, without the special ones that models add: a tokenizer, or a server's."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens each text has."""


@dataclass(frozen=True, slots=True)
class Words:
    """Words that have `tokens` each, and some that have one token more, to fill up a length.

    `is_exact` is whether a tokenizer has confirmed it; otherwise `tokens` is an estimate.
    """

    words: tuple[str, ...]
    tokens: int = 1
    longer: tuple[str, ...] = ()
    is_exact: bool = False

    def number_of(self, tokens: int) -> int:
        """Return how many words a text of so many tokens has, at least one."""
        return tokens // self.tokens or 1

    def left_over(self, tokens: int) -> int:
        """Return how many of these words are replaced by longer ones, to fill up the length."""
        if self.tokens == 1 or not self.longer or tokens < self.tokens:
            return 0
        return min(tokens % self.tokens, self.number_of(tokens))


USUAL = Words(USUAL_WORDS)
"""The words where no tokenizer is known: one token each is an estimate."""


def calibrated(counter: TokenCounter, seed: int = 1) -> Words:
    """Return words whose tokens are known; raise UsageError if the tokenizer has none."""
    usual = Words(USUAL_WORDS, is_exact=True)
    if _is_confirmed(usual, counter, seed):
        return usual
    for words in _classes(counter):
        if _is_confirmed(words, counter, seed):
            return words
    raise UsageError(
        say("this tokenizer has no words that always have the same number of tokens"),
        say("leave it out: lengths are then estimated, and torr reports by how much they differ"),
    )


def _classes(counter: TokenCounter) -> list[Words]:
    """Return words of equally many tokens, those of fewest tokens first.

    A word counts behind a space, and is as long at the beginning of a text, or one token shorter.
    """
    twice = counter.count([f"{word} {word}" for word in CANDIDATES])
    thrice = counter.count([f"{word} {word} {word}" for word in CANDIDATES])
    same: dict[int, list[str]] = defaultdict(list)
    shorter: dict[int, list[str]] = defaultdict(list)
    for word, two, three in zip(CANDIDATES, twice, thrice, strict=True):
        tokens = three - two
        at_start = two - tokens
        if 1 <= tokens <= LONGEST_WORD and tokens - 1 <= at_start <= tokens:
            (same if at_start == tokens else shorter)[tokens].append(word)
    return [
        Words(tuple(words), tokens, tuple(kind[tokens + 1]), is_exact=True)
        for kind in (same, shorter)
        for tokens, words in sorted(kind.items())
        if len(words) >= LEAST_WORDS
    ]


def _is_confirmed(words: Words, counter: TokenCounter, seed: int) -> bool:
    """Return whether texts of these words have the tokens that they should, at most one less."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    all_words = list(words.words)
    draw.shuffle(all_words)
    chosen = [all_words, *(draw.choices(words.words, k=n) for n in _VERIFIED_WORDS)]
    expected = [len(each) * words.tokens for each in chosen]
    counts = counter.count([" ".join(each) for each in chosen])
    return all(0 <= e - n <= int(words.tokens > 1) for e, n in zip(expected, counts, strict=True))
