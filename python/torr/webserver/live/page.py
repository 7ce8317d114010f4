"""The functions of the report that the live page uses; no other module here imports the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import as_json
from torr.report.data.stream_charts import planned as times_planned
from torr.report.files.html import document
from torr.report.text.generator_status import generator_status
from torr.report.view.view import bare, light, pools_of
from torr.report.view.view import run as run_of

if TYPE_CHECKING:
    from torr.model.json import JsonObject
    from torr.results.level import Interval

__all__ = ["bare", "document", "generator_of", "light", "pools_of", "run_of", "times_planned"]


def generator_of(piece: Interval) -> JsonObject | None:
    """Return the generator's state in an interval, like the view's `trust`; None if unknown."""
    status = generator_status(piece)
    return None if status is None else {"health": status[0], "text": as_json(status[1])}
