"""Whether prompts of planned lengths had as many tokens, by the count of the server.

The server reports the sum over all responses, which is compared with the planned sum of the prompts
that were sent. Templates of chats add tokens to each message, so the mean difference tells this
constant part, and the share tells whether it matters.
"""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

import msgspec

from torr.messages.message import message
from torr.model.rows import Rows
from torr.results.stream import PromptLengths

if TYPE_CHECKING:
    from torr.messages.message import Message
    from torr.model.plan import Plan
    from torr.results.level import Level, NamedRequest
    from torr.results.trace import TokenLengths

MOST_OFF_PERCENT = 5.0
"""A larger difference of the totals is a warning."""


def with_prompt_lengths(level: Level, plan: Plan) -> Level:
    """Return the level with `stream.prompt_lengths`, and with a warning if they are off."""
    planned = [
        n for group in plan.groups if isinstance(group.data, Rows) for n in group.data.tokens
    ]
    if level.stream is None or not level.counts.ok:
        return level
    if level.trace and level.trace.input_tokens:
        lengths, margin = _of_trace(level, level.trace.rows, level.trace.input_tokens)
        return level if margin > MOST_OFF_PERCENT else _checked(level, lengths, margin)
    if not planned:
        return level
    # Later turns contain responses, whose length nobody planned.
    first = level.requests[0] if len(plan.requests) > 1 and level.requests else level
    workers = (level.generator and level.generator.workers) or 1
    return _checked(level, *_made_up(first, _sent(first, planned), workers))


def _checked(level: Level, lengths: PromptLengths | None, margin: float) -> Level:
    """Return the level with lengths, and with a warning if they are off.

    Which prompts have a count may change them by `margin` percent.
    """
    if lengths is None or level.stream is None:
        text = message(
            "warning.prompt_length_unknown",
            "the server did not report the tokens of prompts, so nothing shows that they have the"
            " planned lengths",
        )
        return _warned(level, text)
    stream = msgspec.structs.replace(level.stream, prompt_lengths=lengths)
    level = msgspec.structs.replace(level, stream=stream)
    if abs(lengths.difference_percent) <= MOST_OFF_PERCENT + margin:
        return level
    text = message(
        "warning.prompt_length_differs",
        "prompts have {reported:,.1f} tokens on average instead of the planned {planned:,.1f}"
        " ({share:+.1f} %)",
        reported=lengths.reported_mean,
        planned=lengths.planned_mean,
        share=lengths.difference_percent,
    )
    return _warned(level, text)


def _sent(part: Level | NamedRequest, planned: list[int]) -> list[int]:
    """Return the planned tokens of the prompts that were sent in the measurement window."""
    before = part.warmup.counts.attempted if part.warmup else 0
    count = part.counts.attempted
    return [planned[number % len(planned)] for number in range(before, before + count)]


def _made_up(
    part: Level | NamedRequest, sent: list[int], workers: int
) -> tuple[PromptLengths | None, float]:
    """Return the lengths, and by how many percent the choice of prompts may change them.

    Of a prompt whose request failed there is no count, and which one it was is not known. Several
    workers each send their own part in order, so that one may be a prompt ahead of the others.
    """
    mean = fmean(sent) if sent else 0.0
    lengths = _compared(part, mean)
    if lengths is None:
        return None, 0
    unknown = len(sent) - lengths.checked + (workers if workers > 1 else 0)
    farthest = max(max(sent) - mean, mean - min(sent))
    return lengths, 100 * unknown * farthest / (lengths.checked * mean)


def _of_trace(level: Level, rows: int, planned: TokenLengths) -> tuple[PromptLengths | None, float]:
    """Return the lengths, and by how many percent rows without a count may change them."""
    lengths = _compared(level, planned.mean)
    if lengths is None or not planned.total:
        return None, 0
    return lengths, 100 * abs(rows - lengths.checked) * planned.max / planned.total


def _compared(part: Level | NamedRequest, planned: float) -> PromptLengths | None:
    stream = part.stream
    if stream is None or not stream.tokens_in or not planned:
        return None
    checked = part.counts.ok - stream.tokens_unreported
    if checked < 1:
        return None
    reported = stream.tokens_in / checked
    return PromptLengths(
        checked=checked,
        planned_mean=planned,
        reported_mean=reported,
        difference_mean=reported - planned,
        difference_percent=100 * (reported - planned) / planned,
    )


def _warned(level: Level, text: Message) -> Level:
    return msgspec.structs.replace(level, warnings=[*level.warnings, text])
