"""The door to the engine's ledger: what a process fired goes in, a sheet of it comes out.

The types of the compiled module are those of its stub; nothing is decided here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["Gathering", "Ledger", "new_gathering", "new_ledger"]

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr._engine import Gathering, Ledger


def new_ledger() -> Ledger:
    """The books of this process: made after any fork, in the thread that fires."""
    from torr import _engine

    return _engine.Ledger()


def new_gathering(addresses: Sequence[str], *, warmup_s: float, apart: bool) -> Gathering:
    """Where the sheets of all processes of a test come together."""
    from torr import _engine

    return _engine.Gathering(list(addresses), warmup_s=warmup_s, apart=apart)
