"""What a row of the comparison is: a name, how it is measured, what came of it."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from common.nginx import Nginx
    from versus.bars import Judged
    from versus.tools import Tool


@dataclass(frozen=True)
class Plan:
    """How many rounds, how long a shot, and with whom (all of them for none)."""

    rounds: int
    seconds: int
    only_tools: tuple[str, ...] = ()

    def present(self, tools: Iterable[Tool]) -> tuple[list[Tool], dict[str, str]]:
        """Tell apart those that take part and those that cannot, with the reasons."""
        asked = [tool for tool in tools if not self.only_tools or tool.name in self.only_tools]
        absent = {tool.name: reason for tool in asked if (reason := tool.absent())}
        return [tool for tool in asked if tool.name not in absent], absent


@dataclass
class Measured:
    """What came of a row."""

    bars: list[Judged] = field(default_factory=list)
    shots: list[dict[str, Any]] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Row:
    """One row: `about` is what a reader sees."""

    name: str
    about: str
    measure: Callable[[Nginx, Plan], Measured]


def in_turn(tools: Sequence[Tool], number: int) -> list[Tool]:
    """Return the order of a round: forwards, then backwards, so that drift hits all alike."""
    return list(tools) if number % 2 == 0 else list(reversed(tools))


def middle(shots: Sequence[dict[str, Any]], tool: str, key: str) -> float:
    """Return the median of one tool's values."""
    return statistics.median(float(shot[key]) for shot in shots if shot["tool"] == tool)
