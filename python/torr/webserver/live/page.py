"""What a browser is given: the report's page, the run in the form that the page reads, and words.

One door to the report's bundle, so that the server knows nothing of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torr.report.generator_now import generator_now
from torr.report.html import document
from torr.report.say import as_json
from torr.report.view import MOST_DRAWN, MOST_SLICES, bare, counted, drawn, pools_of
from torr.report.view import run as run_of

__all__ = ["bare", "document", "generator_of", "pools_of", "run_of", "shown"]


def shown(piece: Mapping[str, Any], count: int) -> dict[str, Any]:
    """Return what is shown of a slice of a level, where all levels have `count` slices."""
    if count > MOST_DRAWN:
        return counted(piece)
    return drawn(piece) if count > MOST_SLICES else bare(piece)


def generator_of(piece: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return how the generator does in a slice, as the view's `trust`; None where nobody knows."""
    found = generator_now(piece)
    return None if found is None else {"health": found[0], "text": as_json(found[1])}
