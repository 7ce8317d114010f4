"""What tests of measured functions share: a small heap, and a clock that operations advance."""

from __future__ import annotations

import gc

import pytest

from torr.micro import loops, overhead, stressing, worker


@pytest.fixture(autouse=True)
def _small_heap():
    """Hide what other tests have left: each round and look goes over all objects of the process."""
    gc.freeze()
    yield
    gc.unfreeze()


class SimulatedClock:
    """A clock in nanoseconds that stands still unless an operation advances it."""

    def __init__(self):
        self.now_ns = 0

    def __call__(self):
        return self.now_ns

    def advance(self, ns):
        self.now_ns += ns


@pytest.fixture
def clock(monkeypatch):
    """The clock that times operations; a look at it costs nothing."""
    simulated = SimulatedClock()
    for module in (loops, stressing, worker):
        monkeypatch.setattr(module, "perf_counter_ns", simulated)
    monkeypatch.setattr(overhead, "timing_overhead", lambda: overhead.Overhead(0.0, 0.0))
    return simulated
