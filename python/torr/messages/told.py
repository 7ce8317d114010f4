"""Other languages for what lower floors and the engine have said, in English, into result.json.

Such a text is known by a pattern, which is the English with `{placeholders}` for what differs, of
which `{count}` is a number. What no pattern knows is data, and stays as it is: nothing is
translated word by word.
"""

from __future__ import annotations

import json
import re
from functools import cache, lru_cache
from pathlib import Path

from torr.messages.message import Message
from torr.messages.say import Text, spaced

# What torr says is shorter; a longer text would take patterns long to refuse.
_LONGEST = 1000
_HOLE = re.compile(r"\{(\w+)\}")


def told(text: str) -> Text:
    """Return a text that torr wrote into a result, with its words in other languages."""
    if isinstance(text, Text) and not (isinstance(text, Message) and not text.code):
        return text
    text = str.__str__(text)
    return Text(lambda language: text if language != "zh" else _translated(text))


def matches(pattern: str, text: str) -> dict[str, str] | None:
    """Return what stands at the placeholders of a pattern, None where it does not fit."""
    found = _compiled(pattern).fullmatch(text)
    return None if found is None else found.groupdict()


def _translated(text: str) -> str:
    """A text's words, and those of what stands at its placeholders."""
    known = _known(text)
    if known is None:
        return text
    words, values = known
    return spaced(words, {name: _translated(value) for name, value in values.items()})


@lru_cache(maxsize=1024)
def _known(text: str) -> tuple[str, dict[str, str]] | None:
    """The words for a text and what fills them: of several patterns the one that says most."""
    if len(text) > _LONGEST:
        return None
    for pattern, words in _patterns():
        values = matches(pattern, text)
        if values is not None:
            return words, values
    return None


@cache
def _patterns() -> list[tuple[str, str]]:
    """Patterns with most text of their own first: the others would take theirs for a value."""
    return sorted(_read().items(), key=lambda item: -len(_HOLE.sub("", item[0])))


def _read() -> dict[str, str]:
    found: dict[str, str] = json.loads(Path(__file__).with_name("told.json").read_bytes())
    return found


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    literal = re.split(r"\{\w+\}", pattern)
    values = {"count": r"[\d,]+"}
    holes = [f"(?P<{name}>{values.get(name, '.+?')})" for name in _HOLE.findall(pattern)]
    parts = [re.escape(literal[0])]
    for hole, text in zip(holes, literal[1:], strict=True):
        parts += [hole, re.escape(text)]
    return re.compile("".join(parts), re.DOTALL)
