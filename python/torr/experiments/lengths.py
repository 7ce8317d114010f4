"""Whether responses had as many tokens as `--output-tokens` asks for.

A server may ignore what forces a length, and a result must not hide it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from torr.messages.message import message

if TYPE_CHECKING:
    from torr.messages.message import Message
    from torr.model.plan import Plan
    from torr.results.level import Level


def with_length_check(level: Level, plan: Plan) -> Level:
    """Return the level with the requested length, and with a warning if responses differ."""
    requested = _requested(plan)
    stream = level.stream
    if requested is None or stream is None:
        return level
    check = stream.length_check
    if check is None:
        text = message(
            "warning.length_unknown",
            "the server did not report tokens, so nothing shows that responses have {tokens:,}",
            tokens=requested,
        )
        return _warned(level, text) if level.counts.ok else level
    check = msgspec.structs.replace(check, requested=requested)
    level = msgspec.structs.replace(
        level, stream=msgspec.structs.replace(stream, length_check=check)
    )
    if not check.different:
        return level
    text = message(
        "warning.length_differs",
        "{n:,} of {checked:,} responses ({share:.1f} %) do not have the {tokens:,} output tokens"
        " that were asked for",
        n=check.different,
        checked=check.checked,
        share=100 * check.different / check.checked,
        tokens=requested,
    )
    return _warned(level, text)


def _requested(plan: Plan) -> int | None:
    streams = (request.stream for request in plan.requests)
    return next((stream.output_tokens for stream in streams if stream), None)


def _warned(level: Level, text: Message) -> Level:
    return msgspec.structs.replace(level, warnings=[*level.warnings, text])
