"""How late this process is: a timer that says when it rang, while a test runs.

Requests tell how long they waited for their turn only when there are some; the timer always does.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NoReturn

import gevent

if TYPE_CHECKING:
    from torr.locust.ledger import Ledger

EVERY_S = 0.05


def watch(ledger: Ledger) -> gevent.Greenlet:
    """Start the timer; killing it ends it."""
    return gevent.spawn(_ring, ledger)


def _ring(ledger: Ledger) -> NoReturn:
    while True:
        due = time.monotonic() + EVERY_S
        gevent.sleep(EVERY_S)
        ledger.late(max(0.0, time.monotonic() - due))
