"""Prompts over the levels of a run: none is said again before all were, and how many were is told.

A server's cache may know what was said before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from torr.model.rows import Rows
from torr.results.stream import PromptCounts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torr.model.plan import Group, Plan
    from torr.results.level import Level


def begun_before(levels: Iterable[Level]) -> int:
    """How many conversations these levels have begun."""
    streams = (level.stream for level in levels)
    return sum(each.prompts.sent for each in streams if each and each.prompts)


def behind(plan: Plan, begun: int) -> Plan:
    """The plan with its prompts turned on by so many: it goes on where earlier levels ended."""
    if not begun or not any(isinstance(group.data, Rows) for group in plan.groups):
        return plan
    return replace(plan, groups=tuple(_turned(group, begun) for group in plan.groups))


def _turned(group: Group, begun: int) -> Group:
    if not isinstance(group.data, Rows):
        return group
    rows = group.data.rows
    at = begun % len(rows)
    return replace(group, data=replace(group.data, rows=rows[at:] + rows[:at]))


def with_prompts(level: Level, plan: Plan, before: int) -> Level:
    """The level with `stream.prompts`, where it said some; the warm-up says them too.

    `given` conversations, `sent` requests that began one, and how many of those were `reused`: said
    in this level or, as `before` counts, in an earlier one. Several workers share the prompts out,
    and a quick one begins its own again before a slow one has said its last: `at_least` so many.
    """
    rows = [group.data for group in plan.groups if isinstance(group.data, Rows)]
    if not rows or level.stream is None:
        return level
    given = sum(len(each.rows) for each in rows)
    begun = _begun(level)
    is_unique = all(each.is_unique for each in rows)
    unsaid = max(0, given - before)
    reused = 0 if is_unique else max(0, begun - unsaid)
    workers = (level.generator and level.generator.workers) or 1
    prompts = PromptCounts(
        provided=given,
        sent=begun,
        reused=reused,
        at_least=workers > 1 and not is_unique and before + begun > workers,
        unique_prefix=is_unique,
    )
    return msgspec.structs.replace(
        level, stream=msgspec.structs.replace(level.stream, prompts=prompts)
    )


def _begun(level: Level) -> int:
    """Requests that began a conversation: first turns, in the warm-up too."""
    first = level.requests[0] if level.requests else level
    before = first.warmup.counts.attempted if first.warmup else 0
    return first.counts.attempted + before
