"""Which side was the limit of a level, told by figures alone.

A side is full when something of it that cannot be widened by waiting is used up: its cores, one
thread, its descriptors. Nothing here looks at throughput: a limit that uses up none of them (a
lock that sleeps, a database elsewhere, a rate that was asked for) is `neither`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Side = Literal["target", "generator", "neither", "both"]

FULL = 95.0
"""Percent of what there is."""
ROOM = 80.0
"""Percent of a core below which it plainly had room."""
LOCKED = (90.0, 115.0)
"""Percent of a core that threads use which take turns."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What a limit is told from: means over the measured window, in percent.

    `cores` is how busy each core was; `target_rate` and `thread_rate` are percent of one core, of
    the whole target and of its busiest thread; `workers` is that of each thread that fires.
    """

    cores: dict[int, float]
    workers: tuple[float, ...] = ()
    is_limited: bool = False
    target_rate: float | None = None
    target_cores: tuple[int, ...] = ()
    thread_rate: float | None = None
    threads_per_process: float = 1.0
    processes: int = 1
    descriptors_rate: float | None = None


def limit(figures: Figures) -> tuple[Side | None, str]:
    """Which side was the limit, and why; None where no target was watched and torr had room."""
    generator, target = _generator(figures), _target(figures)
    if generator and target:
        return "both", f"{target}; {generator}"
    if generator:
        return "generator", generator
    if target:
        return "target", target
    if figures.target_rate is None:
        return None, "no target was watched"
    return "neither", _room(figures)


def _generator(figures: Figures) -> str | None:
    workers = figures.workers
    if workers and min(workers) >= FULL:
        return f"the generator filled its cores ({_shown(min(workers))} of each)"
    return "the generator judged itself limited" if figures.is_limited else None


def _target(figures: Figures) -> str | None:
    """The first of what the target has used up, the plainest before the rest."""
    if figures.target_rate is None:
        return None
    if (figures.descriptors_rate or 0.0) >= FULL:
        return f"the target has {_shown(figures.descriptors_rate)} of its descriptors open"
    cores = max(1, len(figures.target_cores))
    if figures.target_rate >= FULL * cores:
        of = "its core" if cores == 1 else f"its {cores} cores"
        return f"the target filled {of} ({_shown(figures.target_rate)} of one)"
    if (figures.thread_rate or 0.0) >= FULL:
        return f"one thread of the target filled a core ({_shown(figures.thread_rate)})"
    return _crowded(figures) or _locked(figures)


def _crowded(figures: Figures) -> str | None:
    """Its cores are full, mostly by itself: others took the rest."""
    known = [figures.cores[core] for core in figures.target_cores if core in figures.cores]
    if not known or min(known) < FULL or (figures.target_rate or 0.0) < 50 * len(known):
        return None
    used = _shown(figures.target_rate)
    return f"the cores of the target were full, mostly by itself ({used} of one)"


def _locked(figures: Figures) -> str | None:
    """Several threads of one process use one core together, while another had room."""
    known = [figures.cores[core] for core in figures.target_cores if core in figures.cores]
    is_one = figures.processes == 1 and figures.threads_per_process >= 2
    uses_one = LOCKED[0] <= (figures.target_rate or 0.0) <= LOCKED[1]
    if not (is_one and uses_one and len(known) > 1 and min(known) < ROOM):
        return None
    used = _shown(figures.target_rate)
    return f"the threads of the target used one core together ({used}): they wait for one lock"


def _room(figures: Figures) -> str:
    words = [f"the target used {_shown(figures.target_rate)} of a core"]
    if figures.workers:
        words.append(f"the busiest worker {_shown(max(figures.workers))}")
    if figures.cores and min(figures.cores.values()) >= FULL:
        words.append("but every core of the machine was full: others took part of it")
    return ", ".join(words)


def _shown(percent: float | None) -> str:
    return f"{percent or 0.0:.0f} %"
