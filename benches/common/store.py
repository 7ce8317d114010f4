"""Benches make many runs that nobody asks for later: none of them goes into the user's store."""

from __future__ import annotations

import os


def keep_none() -> None:
    """Have every torr that this process starts register nothing."""
    os.environ["TORR_STORE"] = "none"
