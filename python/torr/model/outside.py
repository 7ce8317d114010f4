"""Texts from outside torr, made safe to keep and print: without secrets and control characters.

Answers of a target, output of a server or task, imported files and command lines can contain any
text. It is cleaned here once, before it enters a result, a log or the terminal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from torr.messages.message import Message
from torr.model.json_input import is_json_number
from torr.model.known_secrets import KnownSecrets
from torr.model.printable import printable, safe_text
from torr.model.secrets import redacted_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_HISTOGRAM = re.compile(r"HISTFAAA[A-Za-z0-9+/]*={0,2}")
_LONGEST_REMEMBERED = 200
_MOST_REMEMBERED = 10_000
# Fields whose texts torr reads again: `checkout: p95 < 5s`, where only `checkout` is from outside.
_CONDITIONS = frozenset(
    {
        *("condition", "conditions", "slos", "abort_on", "min_capacity", "discard_if", "rule"),
        *("metric", "primary"),
    }
)
_NUMBERS = frozenset({int, float, bool, type(None)})


@cache
def _text_fields(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the fields of a part of a result that may hold texts; most hold numbers."""
    return tuple(name for name, hint in get_type_hints(kind).items() if _holds_texts(hint))


def _holds_texts(hint: object) -> bool:
    if get_origin(hint) is Literal:
        return False
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return bool(_text_fields(hint))
    inner = get_args(hint)
    return any(map(_holds_texts, inner)) if inner else hint in (str, Message, Any, list, dict)


@dataclass(frozen=True)
class Outside:
    """A cleaner of texts from outside; it also covers each value of `secrets` in every text."""

    secrets: tuple[str, ...] = ()
    _covered: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    _values: KnownSecrets = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Index the secrets."""
        object.__setattr__(self, "_values", KnownSecrets(self.secrets))

    def with_secrets(self, secrets: Iterable[str]) -> Outside:
        """Return a cleaner with more secrets."""
        return Outside((*self.secrets, *secrets))

    def covered(self, text: str) -> str:
        """Return a text without secrets, otherwise unchanged."""
        return redacted_text(self._values.covered(text))

    def text(self, text: str) -> str:
        """Return a text, safe to keep."""
        if _HISTOGRAM.fullmatch(text):
            return text  # it can look like a secret, and holds only numbers
        if len(text) > _LONGEST_REMEMBERED:
            return printable(self.covered(text))
        covered = self._covered.get(text)
        if covered is None:
            covered = printable(self.covered(text))
            if len(self._covered) < _MOST_REMEMBERED:
                self._covered[text] = covered
        return covered

    def json(self, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        """Return a JSON value in which all texts, and names of members, are safe to keep.

        A number that JSON does not have becomes null. Members whose names become the same are
        numbered.
        """
        if isinstance(value, Message):
            return Message(self.text(str(value)), value.code, self.json(dict(value.values)))
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return self._members(value, self.json)
        if isinstance(value, (list, tuple)):
            return [self.json(item) for item in value]
        if isinstance(value, int | float) and not is_json_number(value):
            return None
        return value

    def part(self, part: Any) -> Any:  # noqa: ANN401 - a part of a result, or what is in one
        """Return a part of a result after making all texts in it safe to keep."""
        if isinstance(part, msgspec.Struct):
            for name in _text_fields(type(part)):
                value = getattr(part, name)
                if value:
                    clean = self._condition if name in _CONDITIONS else self.part
                    msgspec.structs.force_setattr(part, name, clean(value))
            return part
        if isinstance(part, list | tuple):
            if _NUMBERS.issuperset(map(type, part)):
                return part
            return type(part)(map(self.part, part))
        if isinstance(part, dict):
            return self._members(part, self.part)
        return self.json(part)

    def _condition(self, value: Any) -> Any:  # noqa: ANN401 - a text or several, or a part
        """Return conditions in which no secret is covered but those in names of requests."""
        if isinstance(value, list):
            return [self._condition(item) for item in value]
        if not isinstance(value, str) or isinstance(value, Message):
            return self.part(value)
        name, colon, condition = value.rpartition(": ")
        return f"{self.text(name)}{colon}{safe_text(condition)}"

    def _members(self, members: dict[str, Any], clean: Callable[[Any], Any]) -> dict[str, Any]:
        cleaned: dict[str, Any] = {}
        for name, value in members.items():
            safe = unique = self.text(name)
            number = 1
            while unique in cleaned:
                number += 1
                unique = f"{safe} #{number}"
            cleaned[unique] = clean(value)
        return cleaned
