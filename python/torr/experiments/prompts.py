"""How often the prompts of a level were said again: a server's cache may know them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.model.rows import Rows

if TYPE_CHECKING:
    from torr.engine import Level
    from torr.model.plan import Plan


def with_prompts(level: Level, plan: Plan) -> Level:
    """The level with `stream.prompts`, where it said some; the warm-up says them too.

    `given` conversations, `sent` requests that began one, and how many of those were `reused`.
    """
    rows = [group.data for group in plan.groups if isinstance(group.data, Rows)]
    if not rows or not level.get("stream"):
        return level
    given = sum(len(each.rows) for each in rows)
    steps = max(len(group.source.requests) for group in plan.groups)
    sent = level["counts"]["attempted"] + level["warmup"]["counts"]["attempted"]
    begun = -(-sent // steps)
    is_unique = all(each.is_unique for each in rows)
    reused = 0 if is_unique else max(0, begun - given)
    prompts = {"given": given, "sent": begun, "reused": reused, "unique_prefix": is_unique}
    return {**level, "stream": {**level["stream"], "prompts": prompts}}
