"""What a browser is given: the report's page, and the run in the form that the page reads.

One door to the report's bundle, so that the server knows nothing of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torr.report.html import document
from torr.report.view import run as run_of

Json = dict[str, Any]

__all__ = ["document", "run_of", "without_histograms"]


def without_histograms(piece: Mapping[str, Any]) -> Json:
    """A slice as the page draws it."""
    return {key: value for key, value in piece.items() if key != "histograms"}
