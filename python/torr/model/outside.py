"""What comes from outside, fit to be kept and printed: no secrets, nothing that moves a terminal.

A target, a server, a task, an imported file and a command line say what they like. Their words pass
here once, where they enter a result, a log or the terminal.
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
from torr.model.secrets import redacted_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Control characters but for tabs and line feeds, what turns the direction of writing around, and
# halves of a character (lone surrogates), which UTF-8 has no bytes for. A carriage return stays at
# the end of a line.
_MOVING = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]|\r(?!\n)"
)
_HISTOGRAM = re.compile(r"HISTFAAA[A-Za-z0-9+/]*={0,2}")
_LONGEST_REMEMBERED = 200
_MOST_REMEMBERED = 10_000
_NUMBERS = frozenset({int, float, bool, type(None)})


def printable(text: str) -> str:
    r"""The text with control characters as they are written in a program: `\x1b`."""
    return _MOVING.sub(lambda found: ascii(found[0])[1:-1], text)


def safe_text(text: str) -> str:
    """A text from outside, fit to be kept and printed."""
    return printable(redacted_text(text))


@cache
def _text_fields(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields of a part of a result that may hold texts from outside: most hold numbers."""
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
    """Makes texts fit to be kept; `secrets` are values to cover wherever they stand."""

    secrets: tuple[str, ...] = ()
    _known: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    _values: KnownSecrets = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Make the values ready to be looked for."""
        object.__setattr__(self, "_values", KnownSecrets(self.secrets))

    def with_secrets(self, secrets: Iterable[str]) -> Outside:
        """The same with more secrets."""
        return Outside((*self.secrets, *secrets))

    def covered(self, text: str) -> str:
        """A text without secrets, else as it is."""
        return redacted_text(self._values.covered(text))

    def text(self, text: str) -> str:
        """A text, fit to be kept."""
        if len(text) > _LONGEST_REMEMBERED:
            # A histogram is numbers: what looks like a secret in it is none.
            return text if _HISTOGRAM.fullmatch(text) else printable(self.covered(text))
        found = self._known.get(text)
        if found is None:
            found = printable(self.covered(text))
            if len(self._known) < _MOST_REMEMBERED:
                self._known[text] = found
        return found

    def json(self, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        """Return a value of JSON with all texts in it, names of members too, fit to be kept.

        A number that JSON has not becomes null. Members whose names become the same are numbered.
        """
        if isinstance(value, Message):
            return Message(self.text(str(value)), value.code, self.json(dict(value.values)))
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return self._members(value, self.json)
        if isinstance(value, (list, tuple)):
            return [self.json(each) for each in value]
        if isinstance(value, int | float) and not is_json_number(value):
            return None
        return value

    def part(self, part: Any) -> Any:  # noqa: ANN401 - a part of a result, or what is in one
        """Return a part of a result after making all texts in it fit to be kept."""
        if isinstance(part, msgspec.Struct):
            for name in _text_fields(type(part)):
                value = getattr(part, name)
                if value:
                    msgspec.structs.force_setattr(part, name, self.part(value))
            return part
        if isinstance(part, list | tuple):
            if _NUMBERS.issuperset(map(type, part)):
                return part
            return type(part)(map(self.part, part))
        if isinstance(part, dict):
            return self._members(part, self.part)
        return self.json(part)

    def _members(self, members: dict[str, Any], clean: Callable[[Any], Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in members.items():
            safe = free = self.text(name)
            number = 1
            while free in found:
                number += 1
                free = f"{safe} #{number}"
            found[free] = clean(value)
        return found
