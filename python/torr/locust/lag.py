"""How late this process is: a timer that measures its own delay while a test runs.

Requests show how long they waited only while there are some; the timer always does.

"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NoReturn

import gevent

if TYPE_CHECKING:
    from torr.locust.ledger import Ledger

INTERVAL_S = 0.05


def watch(ledger: Ledger) -> gevent.Greenlet:
    """Start the timer, and return its greenlet; killing it ends the timer."""
    return gevent.spawn(_ring, ledger)


def _ring(ledger: Ledger) -> NoReturn:
    while True:
        due = time.monotonic() + INTERVAL_S
        gevent.sleep(INTERVAL_S)
        ledger.late(max(0.0, time.monotonic() - due))
