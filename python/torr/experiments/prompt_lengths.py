"""Whether prompts of planned lengths had as many tokens, by the count of the server.

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
    from torr.results.trace import TokenLengths

MOST_OFF_PERCENT = 5.0
"""A larger difference of the totals is a warning."""

# So many standard errors may the mean of the prompts that were sent differ from that of all.
_STANDARD_ERRORS = 3.0


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
    begun = level.stream.prompts.sent if level.stream.prompts else 0
    # Prompts are sent nearly in order; all of them, if more were begun than there are.
    return _checked(level, *_made_up(first, planned[:begun] or planned))


def _checked(level: Level, lengths: PromptLengths | None, margin: float) -> Level:
    """Return the level with lengths, and with a warning if they are off by more than chance."""
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


def _made_up(part: Level | NamedRequest, planned: list[int]) -> tuple[PromptLengths | None, float]:
    """Return the lengths, and by how many percent chance alone may change them."""
    lengths = _compared(part, fmean(planned))
    if lengths is None:
        return None, 0
    error = pstdev(planned) / math.sqrt(lengths.checked)
    return lengths, 100 * _STANDARD_ERRORS * error / lengths.planned_mean


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
