"""A row: one bar of measuring in this process, what was found of it, and whether it is met."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from torr.procfs.totals import Core, machine_totals


@dataclass(frozen=True)
class Effort:
    """How much is measured.

    `rounds` of tools and loops in turn; `same` comparisons of a function with itself; `slower` ones
    with a slower function; `watches` for leaks of each function; `starts` of pytest a side.
    """

    rounds: int
    same: int
    slower: int
    watches: int
    starts: int


FULL = Effort(rounds=7, same=200, slower=10, watches=5, starts=31)
QUICK = Effort(rounds=1, same=20, slower=2, watches=1, starts=3)


@dataclass(frozen=True)
class Finding:
    """What a row found: `within` is None where nothing can be shown, and the words say why."""

    within: bool | None
    words: Sequence[str]
    kept: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """One bar, and how it is measured."""

    name: str
    bar: str
    measure: Callable[[Effort], Finding]


@dataclass(frozen=True)
class Found:
    """What came of a row, and what else went on: the load average, and what was stolen, in %."""

    name: str
    bar: str
    within: bool | None
    note: str
    kept: dict[str, Any]
    seconds: float
    load: float
    steal: float


def measured(row: Row, effort: Effort) -> Found:
    """Measures a row; what the machine did meanwhile stands beside it."""
    began, before = time.monotonic(), _cores()
    finding = row.measure(effort)
    steal = stolen(before, _cores())
    load = os.getloadavg()[0]
    words = [*finding.words, f"load {load:.1f}", f"steal {steal:.1f} %"]
    seconds = round(time.monotonic() - began, 1)
    note = ", ".join(words)
    return Found(row.name, row.bar, finding.within, note, finding.kept, seconds, load, steal)


def stolen(before: Sequence[Core], after: Sequence[Core]) -> float:
    """What a hypervisor took of the cores between two looks, in %."""
    total = sum(core.total for core in after) - sum(core.total for core in before)
    took = sum(core.steal for core in after) - sum(core.steal for core in before)
    return round(100 * took / total, 2) if total else 0.0


def _cores() -> Sequence[Core]:
    return list(machine_totals().cores.values())
