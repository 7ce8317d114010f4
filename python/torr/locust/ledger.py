"""The door to the engine's ledger: what a process fires goes in, and comes out as a run.

A `Ledger` is made after any fork, in the thread that fires; a `Gathering` lays the sheets of all
ledgers of a test on each other.
"""

from __future__ import annotations

from torr._engine import Counts, Gathering, Ledger

__all__ = ["Counts", "Gathering", "Ledger"]
