"""Wait for greenlets and servers."""

import time

import gevent

LIMIT_S = 30


def wait_until(holds):
    """Let other greenlets run until a condition holds."""
    end_s = time.monotonic() + LIMIT_S
    while not holds():
        assert time.monotonic() < end_s, f"the condition did not hold within {LIMIT_S} s"
        gevent.sleep(0.005)
