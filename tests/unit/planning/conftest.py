"""`torr` called inside the test's process: planning is seen in a fake engine's plan."""

from __future__ import annotations

from command_line import quick_pictures, torr

__all__ = ["quick_pictures", "torr"]
