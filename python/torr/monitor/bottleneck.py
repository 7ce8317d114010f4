"""Decide which side was the bottleneck of a level, from the utilization of resources.

A side is the bottleneck if one of its resources is used up: its cores, the core of one thread, its
file descriptors. Throughput is not considered: a limit without such a resource (a lock that
sleeps, a database elsewhere, the planned rate) is `neither`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torr.messages.message import Message, message, message_count, message_list

Side = Literal["target", "generator", "neither", "both"]

FULL = 95.0
"""Percent of a resource from which on it is used up."""
ROOM = 80.0
"""Percent of a core below which it was not busy."""
LOCKED = (90.0, 115.0)
"""Percent of a core that threads use together if one lock serializes them."""


@dataclass(frozen=True, slots=True)
class Utilization:
    """Means over the measured window, in percent.

    `cores` is the utilization of each core; `target_rate` and `thread_rate` are those of the whole
    target and of its busiest thread, in percent of one core; `workers` those of torr's workers.
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


def bottleneck(figures: Utilization) -> tuple[Side | None, Message]:
    """Return the bottleneck and the reason; None if no target was monitored and torr had room."""
    generator, target = _generator(figures), _target(figures)
    if generator and target:
        return "both", message_list("; ", [target, generator])
    if generator:
        return "generator", generator
    if target:
        return "target", target
    if figures.target_rate is None:
        return None, message("bottleneck.not_watched", "no target was watched")
    return "neither", _room(figures)


def _generator(figures: Utilization) -> Message | None:
    workers = figures.workers
    if workers and min(workers) >= FULL:
        return message(
            "bottleneck.generator_cores",
            "the generator filled its cores ({share:.0f} % of each)",
            share=min(workers),
        )
    if figures.is_limited:
        return message("bottleneck.generator_limited", "the generator judged itself limited")
    return None


def _target(figures: Utilization) -> Message | None:
    """Return the first resource that the target has used up, in the order of evidence."""
    if figures.target_rate is None:
        return None
    if (figures.descriptors_rate or 0.0) >= FULL:
        return message(
            "bottleneck.descriptors",
            "the target has {share:.0f} % of its descriptors open",
            share=figures.descriptors_rate,
        )
    cores = max(1, len(figures.target_cores))
    if figures.target_rate >= FULL * cores:
        return message_count(
            "bottleneck.target_cores",
            cores,
            "the target filled its core ({share:.0f} % of one)",
            "the target filled its {n} cores ({share:.0f} % of one)",
            share=figures.target_rate,
        )
    if (figures.thread_rate or 0.0) >= FULL:
        return message(
            "bottleneck.thread",
            "one thread of the target filled a core ({share:.0f} %)",
            share=figures.thread_rate,
        )
    return _crowded(figures) or _locked(figures)


def _crowded(figures: Utilization) -> Message | None:
    """Return whether the target's cores were full, mostly by itself."""
    known = [figures.cores[core] for core in figures.target_cores if core in figures.cores]
    if not known or min(known) < FULL or (figures.target_rate or 0.0) < 50 * len(known):
        return None
    return message(
        "bottleneck.crowded",
        "the cores of the target were full; the target itself used {share:.0f} % of one core",
        share=figures.target_rate,
    )


def _locked(figures: Utilization) -> Message | None:
    """Return whether threads of one process used one core together, while another was not busy."""
    known = [figures.cores[core] for core in figures.target_cores if core in figures.cores]
    is_one = figures.processes == 1 and figures.threads_per_process >= 2
    uses_one = LOCKED[0] <= (figures.target_rate or 0.0) <= LOCKED[1]
    if not (is_one and uses_one and len(known) > 1 and min(known) < ROOM):
        return None
    return message(
        "bottleneck.lock",
        "the threads of the target used one core together ({share:.0f} %): they wait for one lock",
        share=figures.target_rate,
    )


def _room(figures: Utilization) -> Message:
    if figures.workers:
        used = message(
            "bottleneck.room_of_both",
            "the target used {share:.0f} % of a core, the busiest worker {worker:.0f} %",
            share=figures.target_rate,
            worker=max(figures.workers),
        )
    else:
        used = message(
            "bottleneck.room",
            "the target used {share:.0f} % of a core",
            share=figures.target_rate,
        )
    if not figures.cores or min(figures.cores.values()) < FULL:
        return used
    return message(
        "bottleneck.room_on_full_machine",
        "{used}, but every core of the machine was full: other programs used a part of them",
        used=used,
    )
