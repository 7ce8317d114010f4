"""Whether prompts and outputs of planned lengths had as many tokens, by the count of the server.

The server reports the sum over all responses, which is compared with the planned sum of the
requests that were sent: of a trace by the engine, response by response, of other prompts here.
The engine also adds up how far single lengths are off, which may be much when their means agree.
Templates of chats add tokens to each message, so the mean difference tells this constant part, and
the share tells whether it matters. Outputs that all have one length are compared one by one
instead, in `lengths.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Literal

import msgspec

from torr.messages.message import message
from torr.model.rows import Rows
from torr.results.stream import PlannedLengths

if TYPE_CHECKING:
    from torr.messages.message import Message
    from torr.model.plan import Plan
    from torr.results.level import Level, NamedRequest

MOST_OFF_PERCENT = 5.0
"""A larger difference of the totals is a warning."""

_Tokens = Literal["tokens_in", "tokens_out"]


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Lengths, None if the server reported none, and a margin in percent.

    By so much the mean may change with the choice of the requests that have a count.
    """

    lengths: PlannedLengths | None
    margin: float

    @property
    def is_off(self) -> bool:
        """Whether the lengths surely are off by more than MOST_OFF_PERCENT."""
        most = MOST_OFF_PERCENT + self.margin
        return self.lengths is not None and abs(self.lengths.difference_percent) > most

    @property
    def is_off_singly(self) -> bool:
        """Whether the differences of single lengths together are more than MOST_OFF_PERCENT."""
        share = self.lengths.absolute_difference_percent if self.lengths else None
        return share is not None and share > MOST_OFF_PERCENT


def with_prompt_lengths(level: Level, plan: Plan) -> Level:
    """Return the level with `stream.prompt_lengths`, and with a warning if they are off."""
    planned = [n for rows in _rows(plan) for n in rows.tokens]
    found = _comparison(level, planned, "tokens_in")
    if found is None or level.stream is None:
        return level
    if found.lengths is None:
        return _warned(level, _prompts_unknown())
    stream = msgspec.structs.replace(level.stream, prompt_lengths=found.lengths)
    level = msgspec.structs.replace(level, stream=stream)
    if found.is_off:
        return _warned(level, _prompts_differ(found.lengths))
    return _warned(level, _prompts_differ_singly(found.lengths)) if found.is_off_singly else level


def with_output_lengths(level: Level, plan: Plan) -> Level:
    """Return the level with `stream.output_lengths`, and with a warning if they are off."""
    planned = [n for rows in _rows(plan) for n in rows.output_tokens]
    found = _comparison(level, planned, "tokens_out")
    if found is None or level.stream is None:
        return level
    if found.lengths is None:
        return _warned(level, _outputs_unknown())
    stream = msgspec.structs.replace(level.stream, output_lengths=found.lengths)
    level = msgspec.structs.replace(level, stream=stream)
    if found.is_off:
        return _warned(level, _outputs_differ(found.lengths))
    return _warned(level, _outputs_differ_singly(found.lengths)) if found.is_off_singly else level


def _rows(plan: Plan) -> list[Rows]:
    return [group.data for group in plan.groups if isinstance(group.data, Rows)]


def _comparison(level: Level, of_rows: list[int], tokens: _Tokens) -> _Comparison | None:
    """Return planned and reported lengths; None if nothing was planned."""
    if level.stream is None or not level.counts.ok:
        return None
    if level.trace:
        return _of_trace(level, tokens)
    if not of_rows:
        return None
    # Later turns begin later, and how many of which row there were is not known.
    first = level.requests[0] if level.requests else level
    workers = (level.generator and level.generator.workers) or 1
    return _of_rows(first, _sent(first, of_rows), workers, tokens)


def _of_trace(level: Level, tokens: _Tokens) -> _Comparison | None:
    """Return the lengths of a trace, which the engine has added up for each response."""
    stream, trace = level.stream, level.trace
    if stream is None or not trace:
        return None
    if tokens == "tokens_in":
        planned, lengths = trace.input_tokens, stream.prompt_lengths
    else:
        planned, lengths = trace.output_tokens, stream.output_lengths
    return None if planned is None else _Comparison(lengths, 0)


def _sent(part: Level | NamedRequest, planned: list[int]) -> list[int]:
    """Return the planned tokens of the requests that were sent in the measurement window."""
    before = part.warmup.counts.attempted if part.warmup else 0
    count = part.counts.attempted
    return [planned[number % len(planned)] for number in range(before, before + count)]


def _of_rows(
    part: Level | NamedRequest, sent: list[int], workers: int, tokens: _Tokens
) -> _Comparison:
    """Return the lengths, and by how many percent the choice of rows may change them.

    Of a row whose request failed there is no count, and which one it was is not known. Several
    workers each send their own part in order, so that one may be a row ahead of the others.
    """
    mean = fmean(sent) if sent else 0.0
    lengths = _compared(part, mean, tokens)
    if lengths is None:
        return _Comparison(None, 0)
    unknown = len(sent) - lengths.checked + (workers if workers > 1 else 0)
    farthest = max(max(sent) - mean, mean - min(sent))
    return _Comparison(lengths, 100 * unknown * farthest / (lengths.checked * mean))


def _compared(part: Level | NamedRequest, planned: float, tokens: _Tokens) -> PlannedLengths | None:
    stream = part.stream
    total: int | None = getattr(stream, tokens, None)
    if stream is None or not total or not planned:
        return None
    checked = part.counts.ok - stream.tokens_unreported
    if checked < 1:
        return None
    reported = total / checked
    return PlannedLengths(
        checked=checked,
        planned_mean=planned,
        reported_mean=reported,
        difference_mean=reported - planned,
        difference_percent=100 * (reported - planned) / planned,
    )


def _prompts_unknown() -> Message:
    return message(
        "warning.prompt_length_unknown",
        "the server did not report the tokens of prompts, so nothing shows that they have the"
        " planned lengths",
    )


def _prompts_differ(lengths: PlannedLengths) -> Message:
    return message(
        "warning.prompt_length_differs",
        "prompts have {reported:,.1f} tokens on average instead of the planned {planned:,.1f}"
        " ({share:+.1f} %)",
        reported=lengths.reported_mean,
        planned=lengths.planned_mean,
        share=lengths.difference_percent,
    )


def _prompts_differ_singly(lengths: PlannedLengths) -> Message:
    return message(
        "warning.prompt_lengths_differ_singly",
        "single prompts have other lengths than planned: the differences add up to {share:.1f} % of"
        " the planned tokens, although the means are {reported:,.1f} and {planned:,.1f}",
        share=lengths.absolute_difference_percent,
        reported=lengths.reported_mean,
        planned=lengths.planned_mean,
    )


def _outputs_unknown() -> Message:
    return message(
        "warning.output_length_unknown",
        "the server did not report the tokens of outputs, so nothing shows that they have the"
        " planned lengths",
    )


def _outputs_differ(lengths: PlannedLengths) -> Message:
    return message(
        "warning.output_length_differs",
        "outputs have {reported:,.1f} tokens on average instead of the planned {planned:,.1f}"
        " ({share:+.1f} %)",
        reported=lengths.reported_mean,
        planned=lengths.planned_mean,
        share=lengths.difference_percent,
    )


def _outputs_differ_singly(lengths: PlannedLengths) -> Message:
    return message(
        "warning.output_lengths_differ_singly",
        "single outputs have other lengths than planned: the differences add up to {share:.1f} % of"
        " the planned tokens, although the means are {reported:,.1f} and {planned:,.1f}",
        share=lengths.absolute_difference_percent,
        reported=lengths.reported_mean,
        planned=lengths.planned_mean,
    )


def _warned(level: Level, text: Message) -> Level:
    return msgspec.structs.replace(level, warnings=[*level.warnings, text])
