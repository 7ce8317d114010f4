"""Parts of bodies that APIs have in common: prompts as templates, and earlier messages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from torr.model.check import Capture

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.options.stream import StreamOptions


def joined(before: dict[str, Any], middle: str, after: dict[str, Any]) -> str:
    """Return a JSON object from members, of which `middle` is JSON already."""
    write: Callable[[Any], str] = lambda part: json.dumps(part, ensure_ascii=False)[1:-1]  # noqa: E731
    return f"{{{write(before)},{middle},{write(after)}}}"


def prompt(turn: int, options: StreamOptions) -> str:
    """Return the template of the prompt of a turn, as the content of a JSON text."""
    prefix = "{{uuid}} " if options.unique_prefix and turn == 1 else ""
    return f"{prefix}{{{{row.prompt_{turn} | json}}}}"


def with_history(
    before: dict[str, Any], after: dict[str, Any], number: int, options: StreamOptions
) -> tuple[str, tuple[Capture, ...]]:
    """Return a body with all earlier messages, for an API that keeps no conversation."""
    messages = []
    for turn in range(1, number + 1):
        messages.append(_message("user", prompt(turn, options)))
        if turn < number:
            messages.append(_message("assistant", f"{{{{answer_{turn} | json}}}}"))
    is_last = number == options.turns
    captures = () if is_last else (Capture(f"answer_{number}", "text", ""),)
    return joined(before, f'"messages":[{",".join(messages)}]', after), captures


def _message(role: str, content: str) -> str:
    return f'{{"role":"{role}","content":"{content}"}}'
