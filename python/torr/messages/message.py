"""Sentences that are written into results: a code, typed values, and the English made of them.

    message("slo.too_few_answers", "{stat} needs {needed:,} answers, there were {n:,}", …)

A Message is a str, its English. In result.json it is an object of code, values and text, of which
any language can be made again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torr.messages.catalogue import ENGLISH, words
from torr.messages.say import Text, render, spaced

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from typing_extensions import Self

LIST = "list"
"""The code of a list of messages with a separator."""
DEEPEST = 16
"""How deep messages may be nested in the values of messages that are read."""


class Message(Text):
    """An English text with a code and values; without a code it is plain text."""

    __slots__ = ("code", "values")
    code: str
    values: Mapping[str, Any]

    def __new__(cls, text: str, code: str = "", values: Mapping[str, Any] | None = None) -> Self:
        """Make a message from its English, its code and its values."""
        known = values or {}

        def write(language: str) -> str:
            return (
                text if language == ENGLISH or not code else _written(code, known, language, text)
            )

        made = super().__new__(cls, write)
        made.code, made.values = code, known
        return made

    def __reduce__(self) -> tuple[type[str], tuple[Any, ...]]:
        """Copy and pickle text, code and values."""
        return Message, (str(self), self.code, dict(self.values))


def message(code: str, template: str, /, **values: Any) -> Message:  # noqa: ANN401 - JSON values
    """Return the message of a code: the template with its `{placeholders}` filled."""
    return Message(template.format(**values), code, values)


def message_count(code: str, n: int, one: str, many: str, /, **values: Any) -> Message:  # noqa: ANN401
    """Return the message of a code for `{n}` things, in the singular or the plural."""
    return message(code, one if n == 1 else many, n=n, **values)


def message_list(between: str, parts: Iterable[str]) -> Message:
    """Return a list of messages with a separator such as `"; "`."""
    found = [part for part in parts if part]
    if len(found) == 1 and isinstance(found[0], Message):
        return found[0]
    return Message(between.join(found), LIST, {"between": between, "parts": found})


def as_object(text: Message) -> str | dict[str, Any]:
    """Return a message as in result.json: an object, or the text where it has no code."""
    if not text.code:
        return str.__str__(text)
    return {"code": text.code, "values": _objects(text.values), "text": str.__str__(text)}


def from_object(found: object, depth: int = 0) -> Message:
    """Return the message of an object or a text of result.json; raise ValueError for others."""
    if isinstance(found, Message):
        return found
    if isinstance(found, str):
        return Message(found)
    if not isinstance(found, dict):
        raise ValueError("neither a text nor a message")
    code, values, text = found.get("code"), found.get("values"), found.get("text")
    if not (isinstance(code, str) and isinstance(values, dict) and isinstance(text, str)):
        raise ValueError("a message has a code, values and a text")
    if depth > DEEPEST:
        raise ValueError(f"messages lie more than {DEEPEST} deep in a message")
    inside = {name: _value(value, depth + 1) for name, value in values.items()}
    return Message(text, code, inside)


def _objects(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, Message):
        return as_object(value)
    if isinstance(value, dict):
        return {name: _objects(each) for name, each in value.items()}
    return [_objects(each) for each in value] if isinstance(value, list | tuple) else value


def _value(value: Any, depth: int) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        return from_object(value, depth)
    if not isinstance(value, list):
        return value
    if any(isinstance(part, list) for part in value):
        raise ValueError("a value of a message has lists in a list")
    return [from_object(part, depth) if isinstance(part, dict) else part for part in value]


def _written(code: str, values: Mapping[str, Any], language: str, english: str) -> str:
    """Return a message in a language; in English where it has no translation that fits."""
    n = values.get("n")
    template = words(language, code, n if isinstance(n, int) else None)
    try:
        if code == LIST:
            return _listed(values, language)
        if template is None:
            return english
        filled = {name: _rendered(value, language) for name, value in values.items()}
        return spaced(template, filled)
    except (KeyError, ValueError, TypeError):
        # A file that was written by another release, or by hand.
        return english


def _listed(values: Mapping[str, Any], language: str) -> str:
    parts: Sequence[str] = values.get("parts") or ()
    between = str(values.get("between") or "")
    return (words(language, between) or between).join(str(_rendered(x, language)) for x in parts)


def _rendered(value: Any, language: str) -> Any:  # noqa: ANN401 - JSON
    return render(value, language) if isinstance(value, str) else value
