"""Whether made-up prompts had as many tokens as planned, by the count of the server.

The server reports the sum over all responses. Templates of chats add tokens to each message, so the
mean difference tells this constant part, and the share tells whether it matters.
"""

from __future__ import annotations

import math
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

import msgspec

from torr.messages.message import message
from torr.model.rows import Rows
from torr.results.stream import PromptLengths

if TYPE_CHECKING:
    from torr.messages.message import Message
    from torr.model.plan import Plan
    from torr.results.level import Level, NamedRequest

MOST_OFF_PERCENT = 5.0
"""A larger difference of the totals is a warning."""

# So many standard errors may the mean of the prompts that were sent differ from that of all.
_STANDARD_ERRORS = 3.0


def with_prompt_lengths(level: Level, plan: Plan) -> Level:
    """Return the level with `stream.prompt_lengths`, and with a warning if they are off."""
    planned = [
        n for group in plan.groups if isinstance(group.data, Rows) for n in group.data.tokens
    ]
    if not planned or level.stream is None or not level.counts.ok:
        return level
    # Later turns contain responses, whose length nobody planned.
    first = level.requests[0] if len(plan.requests) > 1 and level.requests else level
    begun = level.stream.prompts.sent if level.stream.prompts else 0
    # Prompts are sent nearly in order; all of them, if more were begun than there are.
    found = _found(first, planned[:begun] or planned)
    if found is None:
        text = message(
            "warning.prompt_length_unknown",
            "the server did not report the tokens of prompts, so nothing shows that they have the"
            " planned lengths",
        )
        return _warned(level, text)
    lengths, margin = found
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


def _found(part: Level | NamedRequest, planned: list[int]) -> tuple[PromptLengths, float] | None:
    """Return the lengths, and by how many percent chance alone may change them."""
    stream = part.stream
    if stream is None or not stream.tokens_in:
        return None
    checked = part.counts.ok - stream.tokens_unreported
    if checked < 1:
        return None
    mean, reported = fmean(planned), stream.tokens_in / checked
    error = pstdev(planned) / math.sqrt(checked)
    lengths = PromptLengths(
        checked=checked,
        planned_mean=mean,
        reported_mean=reported,
        difference_mean=reported - mean,
        difference_percent=100 * (reported - mean) / mean,
    )
    return lengths, 100 * _STANDARD_ERRORS * error / mean


def _warned(level: Level, text: Message) -> Level:
    return msgspec.structs.replace(level, warnings=[*level.warnings, text])
