"""Parts of bodies that APIs have in common: prompts as templates, and earlier messages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from torr.model.check import Capture

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.options.stream import StreamOptions

QUERY = "{{row.query | json}}"
"""The template of a query, as the content of a JSON text."""

Message = tuple[str, str]
"""Whose message it is, `user` or `assistant`, and its text as the content of a JSON text."""


def joined(before: dict[str, Any], middle: str, after: dict[str, Any], more: str = "") -> str:
    """Return a JSON object from members, of which `middle` and `more` are JSON already."""
    write: Callable[[Any], str] = lambda part: json.dumps(part, ensure_ascii=False)[1:-1]  # noqa: E731
    return f"{{{','.join(filter(None, (write(before), middle, write(after), more)))}}}"


def prompt(number: int, options: StreamOptions) -> str:
    """Return the template of a prompt of a row, as the content of a JSON text."""
    is_unique = options.unique_prefix and (number == 1 or options.batch > 1)
    prefix = "{{uuid}} " if is_unique else ""
    return f"{prefix}{{{{row.prompt_{number} | json}}}}"


def ids() -> str:
    """Return the template of a prompt of a row that is token ids, as a list in JSON."""
    return "[{{row.prompt_1}}]"


def batch(options: StreamOptions) -> str:
    """Return a list of the texts of a batch."""
    texts = (f'"{prompt(number, options)}"' for number in range(1, options.batch + 1))
    return f"[{','.join(texts)}]"


def conversation(number: int, options: StreamOptions) -> tuple[list[Message], tuple[Capture, ...]]:
    """Return all messages up to a turn, for an API that keeps no conversation."""
    messages = []
    for turn in range(1, number + 1):
        messages.append(("user", prompt(turn, options)))
        if turn < number:
            messages.append(("assistant", f"{{{{answer_{turn} | json}}}}"))
    is_last = number == options.turns
    return messages, () if is_last else (Capture(f"answer_{number}", "text", ""),)


def listed(
    member: str, messages: list[Message], images: Sequence[str] = (), text_type: str = "text"
) -> str:
    """Return messages as a member of an object.

    The first message has `images`, parts of content in the form of the API, before its text, which
    then is a part of `text_type`.
    """
    written = [f'{{"role":"{role}","content":"{text}"}}' for role, text in messages]
    if images:
        role, text = messages[0]
        parts = ",".join([*images, f'{{"type":"{text_type}","text":"{text}"}}'])
        written[0] = f'{{"role":"{role}","content":[{parts}]}}'
    return f'"{member}":[{",".join(written)}]'
