"""A thread that stands back: on a core that it shares with the load, it must not delay it."""

from __future__ import annotations

import os
import threading
from contextlib import suppress

# So far behind whoever calls: a tenth of the share, enough on a core that the load fills.
_BEHIND = 10


def stand_back() -> None:
    """Put the calling thread behind all others of its core; a system that refuses is let be."""
    # On Linux each thread has a place of its own; what ends with the load never needs more.
    with suppress(OSError):
        me = os.PRIO_PROCESS, threading.get_native_id()
        os.setpriority(*me, os.getpriority(*me) + _BEHIND)
