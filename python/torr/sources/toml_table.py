"""A table of a TOML file: its values by key, each of its kind, refused at its own line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from torr import engine
from torr.errors import FileError, UsageError, require
from torr.model.outside_file import read_text
from torr.sources.entry import at
from torr.sources.members import check_names

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from collections.abc import Set as AbstractSet
    from contextlib import AbstractContextManager
    from pathlib import Path

Json = dict[str, Any]
Value = TypeVar("Value")

_WORDS = {str: "a text", bool: "true or false", int: "a whole number"}


def read_table(path: Path) -> TomlTable:
    """Read a TOML file; raises FileError, or UsageError where there is no file."""
    text = read_text(path)
    try:
        found, lines = engine.read_toml(text)
    except ValueError as error:
        line, _, message = str(error).partition(":")
        raise FileError(path, int(line), f"not TOML: {message.strip()}") from error
    return TomlTable(path, "", found, lines)


def line_of(lines: dict[str, int], place: str) -> int:
    """Where a key stands, or the nearest table around it."""
    while place and place not in lines:
        place = place.rpartition(".")[0]
    return lines.get(place, 1)


@dataclass(frozen=True, slots=True)
class TomlTable:
    """A table and its place in the file, such as `groups.0`; every method raises FileError.

    The whole file has the place "". `from_top` are keys that stand there, and not in the table.
    """

    path: Path
    place: str
    found: Json
    lines: dict[str, int]
    from_top: AbstractSet[str] = frozenset()

    @property
    def line(self) -> int:
        """Where it stands."""
        return line_of(self.lines, self.place)

    def at(self, key: str = "") -> AbstractContextManager[None]:
        """Name the file, and the line of a key or of the table, in what is refused within."""
        above = [] if key.partition(".")[0] in self.from_top else [self.place]
        place = ".".join(word for word in [*above, key] if word)
        return at(self.path, line_of(self.lines, place))

    def check_keys(self, known: Sequence[str]) -> None:
        """Refuse a key that there is not."""
        for key in self.found:
            with self.at(key):
                check_names({key: None}, known)

    def one(self, key: str, kind: type[Value]) -> Value | None:
        """A value of that kind, None where it is not said."""
        value = self.found.get(key)
        if value is None:
            return None
        with self.at(key):
            # In Python, true is a whole number.
            if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
                return value
            raise UsageError(f"{key} is not {_WORDS[kind]}")

    def tables(self, name: str) -> list[TomlTable]:
        """The tables of an array, each with its place; none where it is not said."""
        found = self.found.get(name, [])
        with self.at(name):
            fits = isinstance(found, list) and all(isinstance(each, dict) for each in found)
            require(fits, f"{name} are no tables", f"write [[{name}]] above each")
        above = f"{self.place}." if self.place else ""
        return [
            TomlTable(self.path, f"{above}{name}.{number}", each, self.lines)
            for number, each in enumerate(found)
        ]

    def whole(self, key: str, most: int) -> int | None:
        """A whole number from 1 on."""
        value = self.one(key, int)
        with self.at(key):
            fits = value is None or 1 <= value <= most
            require(fits, f"{key} = {value}: it is a whole number from 1 to {most:,}")
        return value

    def read(self, key: str, parse: Callable[[str], Value]) -> Value | None:
        """What a text, or a number in its place, says to its parser."""
        value = self.found.get(key)
        if value is None:
            return None
        with self.at(key):
            fits = isinstance(value, str | int | float) and not isinstance(value, bool)
            require(fits, f"{key} is no text and no number")
            return parse(str(value))

    def texts(self, key: str, hint: str) -> list[str]:
        """A list of texts, which has to be there."""
        with self.at():
            require(key in self.found, f"{key} is missing", hint)
        return self._list(key, str, hint)

    def numbers(self, key: str, hint: str) -> list[int]:
        """A list of whole numbers, empty where it is not said."""
        return self._list(key, int, hint) if key in self.found else []

    def _list(self, key: str, kind: type[Value], hint: str) -> list[Value]:
        found = self.found[key]
        with self.at(key):
            if not isinstance(found, list) or not found:
                raise UsageError(f"{key} is no list", hint)
            # In Python, true is a whole number.
            values = [e for e in found if isinstance(e, kind) and not isinstance(e, bool)]
            require(len(values) == len(found), f"{key} is no list", hint)
            return values
