"""Lengths of prompts and answers in tokens: one length, a range, or a distribution.

512                 each is 512 tokens
100..900            any from 100 to 900, all equally often
normal:512,64       mean and standard deviation
lognormal:512,0.6   median, and sigma of the logarithm: a few are very long
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.model.stream import MOST_TOKENS
from torr.options import readers

if TYPE_CHECKING:
    import random

LARGEST_SIGMA = 5.0

_FORM = say("write 512, 100..900, normal:512,64 or lognormal:512,0.6")
_TOKENS = readers.count(MOST_TOKENS)


@dataclass(frozen=True, slots=True)
class Lengths:
    """A distribution of lengths; what `first` and `second` are depends on its kind.

    `same`: the length, 0; `range`: least and most; `normal`: mean and standard deviation;
    `lognormal`: median and sigma.
    """

    kind: Literal["same", "range", "normal", "lognormal"]
    first: float
    second: float = 0.0

    @property
    def constant(self) -> int | None:
        """Return the length if all are equal, else None."""
        return int(self.first) if self.kind == "same" else None

    @property
    def typical(self) -> float:
        """Return the middle of a range, or the mean or median of a distribution."""
        return (self.first + self.second) / 2 if self.kind == "range" else self.first

    def draw(self, random: random.Random) -> int:
        """Return a length from 1 to MOST_TOKENS; the same for the same state of `random`."""
        if self.kind == "same":
            return int(self.first)
        if self.kind == "range":
            return random.randint(int(self.first), int(self.second))
        if self.kind == "normal":
            length = random.normalvariate(self.first, self.second)
        else:
            length = random.lognormvariate(math.log(self.first), self.second)
        return max(1, round(min(length, MOST_TOKENS)))


def read_lengths(text: str) -> Lengths:
    """Return the lengths of a text; raise UsageError."""
    name, colon, numbers = text.strip().partition(":")
    if not colon:
        least, dots, most = text.partition("..")
        return _range(text, least, most) if dots else _same(text)
    if name not in {"normal", "lognormal"}:
        raise UsageError(say("{name!r} is not a distribution of lengths", name=name), _FORM)
    first, comma, second = numbers.partition(",")
    require(bool(comma), say("{text!r} is not a distribution of lengths", text=text), _FORM)
    width = readers.NUMBER.read(second)
    if name == "normal":
        return Lengths("normal", _TOKENS.read(first), width)
    require(
        width <= LARGEST_SIGMA,
        say("the sigma {text!r} is too large", text=second),
        say("the maximum is {largest:g}", largest=LARGEST_SIGMA),
    )
    return Lengths("lognormal", _TOKENS.read(first), width)


def _same(text: str) -> Lengths:
    least, dash, most = map(str.strip, text.partition("-"))
    if dash and least and most:
        raise UsageError(
            say("{text!r} is not a length", text=text),
            say("write {range}", range=f"{least}..{most}"),
        )
    return Lengths("same", _TOKENS.read(text))


def _range(text: str, least: str, most: str) -> Lengths:
    low, high = _TOKENS.read(least), _TOKENS.read(most)
    require(low <= high, say("{text!r} ends before it begins", text=text), _FORM)
    return Lengths("range", low, high)
