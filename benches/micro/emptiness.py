"""What is left of an operation that does nothing, once torr has taken off what looking costs.

The call of the empty function is in it: torr takes off the clock and the loop, never the call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median

from micro.row import Effort, Finding
from torr.micro import overhead
from torr.micro.errors import ErrorCounts
from torr.micro.measuring import Round, batch_size, run_round
from torr.micro.stressing import StressRun, stress
from torr.micro.subject import Subject

BAR = "≤ 30 ns a call of an empty function, the call with it: in batches, one by one, in a thread"

_MOST_NS = 30.0
_COUNT = 10_000
# Rounds of milliseconds: many of them cost nothing.
_MORE = 5

Times = Mapping[str, float]


def measure(effort: Effort) -> Finding:
    """All three ways in turn; each round measures anew what looking costs."""
    rounds = [_round() for _ in range(_MORE * effort.rounds)]
    left = medians(rounds)
    words = [
        f"{name} {ns:.1f} ns{'' if ns <= _MOST_NS else ' **beyond**'}"
        f" ({min(one[name] for one in rounds):.1f}–{max(one[name] for one in rounds):.1f})"
        for name, ns in left.items()
    ]
    found = {"left_ns": left, "rounds": rounds}
    return Finding(is_little(left), [*words, f"{len(rounds)} rounds"], found)


def medians(rounds: Sequence[Times]) -> dict[str, float]:
    """The median over rounds of each way."""
    return {name: median(one[name] for one in rounds) for name in rounds[0]}


def is_little(left: Times) -> bool:
    """Whether each way leaves no more than it may."""
    return all(ns <= _MOST_NS for ns in left.values())


def _round() -> dict[str, float]:
    overhead.timing_overhead.cache_clear()
    cost, subject = overhead.timing_overhead(), Subject(_nothing)
    batch = batch_size(subject, _COUNT, cost)
    ways: dict[str, Callable[[], Round]] = {
        "in batches": lambda: run_round(subject, _COUNT, batch, cost, ErrorCounts()),
        "one by one": lambda: run_round(subject, _COUNT, 1, cost, ErrorCounts()),
        "in a thread": lambda: stress(StressRun(_nothing, threads=1, per_thread=_COUNT), 1).rounds[
            0
        ],
    }
    return {name: median(way().times_ns) for name, way in ways.items()}


def _nothing() -> None:
    pass
