"""What a level has read of its trace, and a warning about what of it torr cannot send."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from torr.messages.message import message

if TYPE_CHECKING:
    from torr.model.plan import Plan
    from torr.results.level import Level


def with_trace(level: Level, plan: Plan) -> Level:
    """Return the level with what it read of its trace."""
    content = plan.feed.content() if plan.feed else None
    if content is None:
        return level
    level = msgspec.structs.replace(level, trace=content)
    if not content.images:
        return level
    text = message(
        "warning.trace_images",
        "torr does not send the images of the trace: {n:,}",
        n=content.images,
    )
    return msgspec.structs.replace(level, warnings=[*level.warnings, text])
