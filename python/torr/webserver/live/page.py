"""What a browser is given: the report's page, the run in the form that the page reads, and words.

One door to the report's bundle, so that the server knows nothing of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torr.messages.say import as_json
from torr.report.files.html import document
from torr.report.text.generator_status import generator_status
from torr.report.view.view import bare, light, pools_of
from torr.report.view.view import run as run_of

if TYPE_CHECKING:
    from torr.results.level import Interval

__all__ = ["bare", "document", "generator_of", "light", "pools_of", "run_of"]


def generator_of(piece: Interval) -> dict[str, Any] | None:
    """Return how the generator does in an interval, as the view's `trust`; None where unknown."""
    found = generator_status(piece)
    return None if found is None else {"health": found[0], "text": as_json(found[1])}
