"""The cores of the generator and of the target, which are separate so that neither slows the other.

auto        halves of the cores that this process may use; of an odd number the target has more
0/1-3       the generator on 0, the target on 1, 2 and 3
off         both on any core
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.errors import UsageError, require
from torr.messages.say import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

_HINT = say("write 0/1-3 (generator/target), or off")
_SPAN = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?")


@dataclass(frozen=True, slots=True)
class Pin:
    """The numbers of the generator's and the target's cores, ascending."""

    generator: tuple[int, ...]
    target: tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `0/1-3` or `0,2/1,3`; raise UsageError."""
        sides = text.strip().split("/")
        require(
            len(sides) == 2, say("{text!r} does not name the cores of two sides", text=text), _HINT
        )
        generator, target = (_cores(side, text) for side in sides)
        both = sorted(set(generator) & set(target))
        require(
            not both,
            say("{text!r}: core {both} is on both sides", text=text, both=both[0] if both else 0),
            _HINT,
        )
        return cls(generator, target)

    @classmethod
    def halves(cls, cores: Sequence[int]) -> Self | None:
        """Return the cores dealt to both sides; None where there is only one."""
        if len(cores) < 2:
            return None
        ordered = sorted(cores)
        middle = len(ordered) // 2
        return cls(tuple(ordered[:middle]), tuple(ordered[middle:]))

    def check(self, cores: Sequence[int]) -> None:
        """Raise UsageError where a core is not one that this process may use."""
        missing = sorted({*self.generator, *self.target} - set(cores))
        available = ", ".join(map(str, sorted(cores)))
        problem = f"core {missing[0] if missing else 0} is not there"
        require(
            not missing,
            say("--pin {self}: {problem}", self=self, problem=problem),
            say("the cores are {available}", available=available),
        )

    def __str__(self) -> str:
        return "/".join(",".join(map(str, side)) for side in (self.generator, self.target))


def read_pin(text: str) -> Pin | str:
    """Return the cores of `--pin`, or `auto` or `off`."""
    choice = text.strip().lower()
    return choice if choice in ("auto", "off") else Pin.parse(text)


def _cores(side: str, text: str) -> tuple[int, ...]:
    cores: set[int] = set()
    for part in side.split(","):
        span = _SPAN.fullmatch(part.strip())
        if span is None:
            raise UsageError(say("{text!r}: {part!r} is not a core", text=text, part=part), _HINT)
        first, last = int(span[1]), int(span[2] or span[1])
        require(
            first <= last,
            say("{text!r}: {part} ends before it begins", text=text, part=part),
            _HINT,
        )
        cores |= set(range(first, last + 1))
    return tuple(sorted(cores))
