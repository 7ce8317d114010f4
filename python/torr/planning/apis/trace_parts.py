"""How the rows of a trace become parts of a body: for APIs of messages, and of one text.

A body is written for the template of one prompt, which the template of a row then replaces.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_PROMPT = "{{row.prompt_1 | json}}"
_ANSWER = "{{answer | json}}"

Messages = tuple[tuple[str, str], ...]
"""Roles and texts."""


@dataclass(frozen=True, slots=True)
class TraceParts:
    """The parts of an API's body that belong to a row.

    `prompt` is the template of a single prompt and `row` that of a row; `turn` is what a session
    remembers of a request and its response. `write` writes the messages of a row.
    """

    prompt: str
    row: str
    turn: str
    write: Callable[[Messages], str]


def _listed(messages: Messages) -> str:
    return ",".join(
        f'{{"role":{json.dumps(role)},"content":{json.dumps(text)}}}' for role, text in messages
    )


def _joined(messages: Messages) -> str:
    return json.dumps("\n".join(text for _, text in messages))[1:-1]


LISTED = TraceParts(
    f'[{{"role":"user","content":"{_PROMPT}"}}]',
    "[{{history}}{{row.messages}}]",
    f'{{{{row.messages}}}},{{"role":"assistant","content":"{_ANSWER}"}},',
    _listed,
)
"""For APIs that take a list of messages."""

JOINED = TraceParts(
    f'"{_PROMPT}"',
    '"{{history}}{{row.messages}}"',
    f"{{{{row.messages}}}}\\n{_ANSWER}\\n",
    _joined,
)
"""For APIs that take one text."""
