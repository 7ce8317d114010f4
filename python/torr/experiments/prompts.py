"""Prompts over the levels of a run: none is repeated before all were sent.

The counts tell how many were repeated, since a server can answer these from its cache. A trace has
other texts at each level.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from torr.model.feed import FeedLevel, RowFeed
from torr.model.pace import is_closed
from torr.model.rows import Rows
from torr.results.stream import PromptCounts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torr.model.plan import Group, Plan
    from torr.results.level import Level


WARM_UP = -1
"""Stands for the number of a level."""


def prompts_sent(levels: Iterable[Level]) -> int:
    """Return how many conversations the levels have begun."""
    streams = (level.stream for level in levels)
    return sum(stream.prompts.sent for stream in streams if stream and stream.prompts)


def for_warm_up(plan: Plan) -> Plan:
    """Return the plan of a warm-up that is a load of its own: it begins with the first prompts.

    A trace is read again by the load after it, and has other texts then.
    """
    return after_prompts(plan, 0, WARM_UP)


def after_prompts(plan: Plan, sent: int, level: int = 0) -> Plan:
    """Return the plan of a level, counted from 0: earlier ones have sent so many of its prompts."""
    if not any(isinstance(group.data, Rows | RowFeed) for group in plan.groups):
        return plan
    return replace(plan, groups=tuple(_of_level(group, sent, level) for group in plan.groups))


def _of_level(group: Group, sent: int, level: int) -> Group:
    if isinstance(group.data, Rows) and sent:
        return replace(group, data=group.data.rotated(sent))
    if isinstance(group.data, RowFeed):
        users = group.pace.concurrency if is_closed(group.pace) else None
        return replace(group, data=group.data.of_level(FeedLevel(level, users)))
    return group


def with_prompts(level: Level, plan: Plan, before: int) -> Level:
    """Return the level with `stream.prompts`, if it sent any; the warm-up counts, too.

    `reused` are requests that began a conversation that this level or one of the `before` earlier
    requests had begun. It is a lower bound with several workers: each has a part of the prompts,
    and repeats it when it is through, although others are not.
    """
    rows = [group.data for group in plan.groups if isinstance(group.data, Rows)]
    if not rows or level.stream is None:
        return level
    provided = sum(x.distinct or len(x.rows) for x in rows)
    begun = _begun(level)
    is_unique = all(x.is_unique for x in rows)
    unsent = max(0, provided - before)
    reused = 0 if is_unique else max(0, begun - unsent)
    workers = (level.generator and level.generator.workers) or 1
    prompts = PromptCounts(
        provided=provided,
        sent=begun,
        reused=reused,
        at_least=workers > 1 and not is_unique and before + begun > workers,
        unique_prefix=is_unique,
    )
    return msgspec.structs.replace(
        level, stream=msgspec.structs.replace(level.stream, prompts=prompts)
    )


def with_inputs(level: Level, plan: Plan) -> Level:
    """Return the level with `inputs_per_s`, if its requests have batches of texts."""
    rows = [group.data for group in plan.groups if isinstance(group.data, Rows)]
    batch = next((x.batch for x in rows if x.batch), 0)
    if not batch:
        return level
    return msgspec.structs.replace(level, inputs_per_s=batch * level.ok_per_s)


def _begun(level: Level) -> int:
    """Return the number of requests that began a conversation, with the warm-up."""
    first = level.requests[0] if level.requests else level
    before = first.warmup.counts.attempted if first.warmup else 0
    return first.counts.attempted + before
