"""What a level has read of its trace, and warnings about it.

They say what of the trace torr cannot send, and that it has too few sessions for the users.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from torr.messages.message import Message, message, message_count

if TYPE_CHECKING:
    from torr.model.plan import Plan
    from torr.results.level import Level


def with_trace(level: Level, plan: Plan) -> Level:
    """Return the level with what it read of its trace."""
    content = plan.feed.content() if plan.feed else None
    if content is None:
        return level
    texts: list[Message] = []
    if content.images:
        texts.append(
            message(
                "warning.trace_images",
                "torr does not send the images of the trace: {n:,}",
                n=content.images,
            )
        )
    level = msgspec.structs.replace(level, trace=content)
    if level.lacks_sessions:
        texts.append(
            message_count(
                "warning.few_sessions",
                content.sessions,
                "there was {n:,} session of the trace for {users:,} users: the others sent nothing",
                "there were {n:,} sessions of the trace for {users:,} users: the others sent"
                " nothing",
                users=level.user_count,
            )
        )
    return msgspec.structs.replace(level, warnings=[*level.warnings, *texts])
