"""Texts of a given number of tokens, made of words, which share the beginnings that they should.

A text is identified by a key, such as the id of a block. It begins with words that write the key,
so that texts of two keys differ in these words, and never are equal by chance; the rest is a piece
of a pool of random words. The same key, length and seed give the same text in every run.

A text begins with a word and ends with one, and texts are joined by a separator. Tokenizers that
do not join words, which is nearly all of them, then give equal beginnings equal tokens.

With token ids as words and `,` as separator, the text is a list of token ids in JSON.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.messages.say import say
from torr.planning.prompt_text.pool import WordPool
from torr.planning.prompt_text.words import Words

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.sources.traces.row import TraceRow

BLOCK_CACHE_BYTES = 8 << 20
"""Texts of blocks that are kept, since many prompts share them."""
ID_SEPARATOR = ","
"""Separates token ids."""

# What a text is for; a key is a number and one of these.
_KINDS = 4
_BLOCK, _OWN, _GROUP, _TURN = range(_KINDS)
_TURN_BITS = 24
# A text in the cache occupies about so much more than its characters.
_ENTRY_BYTES = 150
# Spreads keys over the pool: 2**64 divided by the golden ratio.
_SPREAD = 0x9E3779B97F4A7C15
_SPREAD_MASK = (1 << 64) - 1
_SPREAD_SHIFT = 32


class PromptText:
    """Makes texts of `words`; those of another seed differ.

    The prompts of rows are shorter by `template_tokens`, which the server adds.
    """

    def __init__(
        self,
        words: Words,
        seed: int = 1,
        separator: str = " ",
        template_tokens: int = 0,
        *,
        cache_bytes: int = BLOCK_CACHE_BYTES,
    ) -> None:
        self.words = words
        self._separator, self._template_tokens = separator, template_tokens
        self._cache_bytes = cache_bytes
        draw = random.Random(seed)  # noqa: S311 - no secret
        self._pool = WordPool(words.words, separator, draw)
        # The digits in which keys are written: the last digit of a key is in the first half.
        self._digits = list(words.words)
        draw.shuffle(self._digits)
        self._base = len(self._digits) // 2
        self._offset = draw.getrandbits(32)
        self._blocks = _BlockCache(self._block, 0, cache_bytes)

    def own(self, number: int, tokens: int) -> str:
        """Return a text that no other number has."""
        return self._text(number * _KINDS + _OWN, tokens)

    def group(self, group: int, tokens: int) -> str:
        """Return the beginning that the prompts of a group share."""
        return self._text(group * _KINDS + _GROUP, tokens)

    def turn(self, session: int, turn: int, tokens: int) -> str:
        """Return what a user adds in a turn of a session."""
        number = (session << _TURN_BITS) + turn
        return self._text(number * _KINDS + _TURN, tokens)

    def joined(self, *texts: str) -> str:
        """Return a text of these texts, with all of their tokens."""
        return self._separator.join(filter(None, texts))

    def of_row(self, row: TraceRow) -> str:
        """Return the prompt of a row, whose length has to be known.

        Blocks of the same id are the same; tokens without an id are the row's own.
        """
        tokens = row.input_tokens or 0
        if self._template_tokens:
            tokens = max(1, tokens - self._template_tokens)
        block_tokens = row.block_tokens
        if not row.hash_ids or not block_tokens:
            return self.own(row.number, tokens)
        if self._blocks.tokens != block_tokens:
            self._blocks = _BlockCache(self._block, block_tokens, self._cache_bytes)
        ids = row.hash_ids
        full = tokens // block_tokens
        parts = list(map(self._blocks.__getitem__, ids[:full]))
        rest = tokens - len(parts) * block_tokens
        if rest:
            has_id = full < len(ids)
            key = ids[full] * _KINDS + _BLOCK if has_id else row.number * _KINDS + _OWN
            parts.append(self._text(key, rest))
        return self._separator.join(parts)

    def _block(self, hash_id: int, tokens: int) -> str:
        """Return the text of a whole block; raise UsageError if its id does not fit into it."""
        key = hash_id * _KINDS + _BLOCK
        name = self._name(key)
        if len(name) > self.words.number_of(tokens) - self.words.left_over(tokens):
            raise UsageError(
                say("a block of {tokens} tokens is too short for its id", tokens=tokens),
                say("use a tokenizer with more words of one token, or --token-ids"),
            )
        return self._text(key, tokens, name)

    def _text(self, key: int, tokens: int, name: list[str] | None = None) -> str:
        if tokens < 1:
            return ""
        words = self.words.number_of(tokens)
        longer = self.words.left_over(tokens)
        words -= longer
        if name is None:
            # Of a text with fewer words than its name, there is only the beginning of the name.
            name = self._name(key)[:words]
        text = self._separator.join(name) + self._pool.piece(self._place(key), words - len(name))
        if not longer:
            return text
        last = self.words.longer[key % len(self.words.longer)]
        text += (self._separator + last) * longer
        return text if name else text.removeprefix(self._separator)

    def _place(self, key: int) -> int:
        return ((key * _SPREAD + self._offset) & _SPREAD_MASK) >> _SPREAD_SHIFT

    def _name(self, key: int) -> list[str]:
        """Return the words that write a key; no name is the beginning of another one.

        The digits are those of its number to the base of half the words, the lowest first. All but
        the last one are words of the second half.
        """
        words = []
        while key >= self._base:
            key, digit = divmod(key, self._base)
            words.append(self._digits[self._base + digit])
        words.append(self._digits[key])
        return words


class _BlockCache(dict[int, str]):
    """The texts of blocks of one length: those used last, at most so many bytes in all."""

    def __init__(self, make: Callable[[int, int], str], tokens: int, most_bytes: int) -> None:
        super().__init__()
        self.tokens = tokens
        self._make = make
        self._most_bytes = most_bytes // 2
        self._bytes = 0
        self._before: dict[int, str] = {}

    def __missing__(self, hash_id: int) -> str:
        text = self._before.pop(hash_id, None) or self._make(hash_id, self.tokens)
        if self._bytes > self._most_bytes:
            self._before, self._bytes = dict(self), 0
            self.clear()
        self._bytes += len(text) + _ENTRY_BYTES
        self[hash_id] = text
        return text


def id_words(least: int, most: int) -> Words:
    """Return the token ids of a range as words."""
    if most - least < 2:
        raise UsageError(
            say("there are no token ids between {least} and {most}", least=least, most=most)
        )
    return Words(tuple(map(str, range(least, most))), is_exact=True)
