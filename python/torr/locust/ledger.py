"""The engine's types that count what Locust's processes fire.

A `Ledger` is made after any fork, in the thread that fires; a `Gathering` adds up those of all
processes of a test.

"""

from __future__ import annotations

from torr._engine import Counts, Gathering, Ledger

__all__ = ["Counts", "Gathering", "Ledger"]
