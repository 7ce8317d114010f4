"""The loads of `torr doctor`: what one worker sends, and how punctual timers are.

They go to a target in this process. Nodes of a cluster send them too, without any package but
torr's own, so this module imports no other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from torr import targets
from torr.messages.say import say
from torr.model.pace import Closed, Open
from torr.model.plan import Duration, Group, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.units import SECOND_NS

if TYPE_CHECKING:
    from torr.engine import Load, Start

CONNECTIONS = 50
RATE = 1000.0
WARMUP_NS = SECOND_NS // 5
WINDOW_NS = SECOND_NS * 3 // 2
WAIT_S = 0.1

Report = Callable[[str], None]
"""Tells the user the current step."""


def send_loads(start: Start, report: Report, window_ns: int) -> tuple[Load, Load]:
    """Return both loads when they have ended; call `report` with each step."""
    with _own_target() as own:
        report(say("measuring what one worker sends"))
        speed = _ended(start(_plan(own.url, Closed(CONNECTIONS), window_ns)))
        report(say("measuring how punctual timers are"))
        timers = _ended(start(_plan(own.url, Open(RATE, connections=CONNECTIONS), window_ns)))
    return speed, timers


@contextmanager
def _own_target() -> Iterator[targets.Target]:
    """Yield a target on the last core, with this thread on the others, if there are several.

    A thread starts on the cores of its parent, so that the worker does not wait for the target.
    """
    allowed = os.sched_getaffinity(0)
    last = {max(allowed)}
    try:
        os.sched_setaffinity(0, last)
        with targets.listening(targets.Hello()) as target:
            os.sched_setaffinity(0, allowed - last or allowed)
            yield target
    finally:
        os.sched_setaffinity(0, allowed)


def _plan(url: str, pace: Closed | Open, window_ns: int) -> Plan:
    return Plan(
        groups=(Group(pace, Source.of(Request(url))),),
        stop=Duration(window_ns),
        warmup_ns=WARMUP_NS,
        drain_ns=SECOND_NS,
    )


def _ended(load: Load) -> Load:
    """Wait for the end of a load; abort it on an error."""
    try:
        while not load.done():
            load.next_interval(WAIT_S)
    except BaseException:
        load.abort()
        raise
    return load
