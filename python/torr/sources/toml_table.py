"""A table of a TOML file; its methods check types, and errors name the line of a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from torr import engine
from torr.errors import FileError, UsageError, require
from torr.messages.say import say
from torr.model.outside_file import read_text
from torr.sources.entry import errors_at
from torr.sources.members import check_names

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from collections.abc import Set as AbstractSet
    from contextlib import AbstractContextManager
    from pathlib import Path
    from types import UnionType

    from torr.model.json import JsonObject

Value = TypeVar("Value")

_KINDS = {str: "a text", bool: "true or false", int: "a whole number"}


def read_table(path: Path) -> TomlTable:
    """Read a TOML file; raise FileError, or UsageError where there is no file."""
    text = read_text(path)
    try:
        values, lines = engine.read_toml(text)
    except ValueError as error:
        line, _, message = str(error).partition(":")
        raise FileError(
            path, int(line), say("not TOML: {message}", message=message.strip())
        ) from error
    return TomlTable(path, "", values, lines)


def check_names_differ(tables: Sequence[TomlTable], names: Sequence[str], noun: str) -> None:
    """Refuse two tables with the same name, at the line of the second one."""
    for number, (table, name) in enumerate(zip(tables, names, strict=True)):
        with table.errors_at("name"):
            require(
                name not in names[:number],
                say("two {noun} are called {name!r}", noun=noun, name=name),
                say("rename one"),
            )


def line_of(lines: dict[str, int], key: str) -> int:
    """Return the line of a key, or of the nearest table around it."""
    while key and key not in lines:
        key = key.rpartition(".")[0]
    return lines.get(key, 1)


@dataclass(frozen=True, slots=True)
class TomlTable:
    """A table and the prefix of its keys in the file, such as `groups.0`; methods raise FileError.

    The whole file has the prefix "". `from_top` are keys that are at the top, not in the table.
    """

    path: Path
    prefix: str
    values: JsonObject
    lines: dict[str, int]
    from_top: AbstractSet[str] = frozenset()

    @property
    def line(self) -> int:
        """Return the line of the table."""
        return line_of(self.lines, self.prefix)

    def errors_at(self, key: str = "") -> AbstractContextManager[None]:
        """Turn errors raised inside into those of the file, at the line of a key or the table."""
        return errors_at(self.path, line_of(self.lines, self._path_of(key)))

    def check_keys(self, names: Sequence[str]) -> None:
        """Refuse an unknown key."""
        for key in self.values:
            with self.errors_at(key):
                check_names({key: None}, names)

    def value(self, key: str, kind: type[Value]) -> Value | None:
        """Return a value of that type, None where it is missing."""
        value = self.values.get(key)
        if value is None:
            return None
        with self.errors_at(key):
            # In Python, true is a whole number.
            if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
                return value
            raise UsageError(say("{key} is not {kinds}", key=key, kinds=_KINDS[kind]))

    def tables(self, name: str) -> list[TomlTable]:
        """Return the tables of an array, each with its prefix; none where it is missing."""
        tables = self.values.get(name, [])
        with self.errors_at(name):
            fits = isinstance(tables, list) and all(isinstance(table, dict) for table in tables)
            require(
                fits,
                say("{name} are not tables", name=name),
                say("write [[{name}]] above each", name=name),
            )
        path = self._path_of(name)
        return [
            TomlTable(self.path, f"{path}.{number}", table, self.lines)
            for number, table in enumerate(tables)
        ]

    def table(self, key: str, hint: str) -> TomlTable:
        """Return the table of a key, empty where it is missing."""
        values = self.values.get(key, {})
        with self.errors_at(key):
            require(isinstance(values, dict), say("{key} is not a table", key=key), hint)
        return TomlTable(self.path, self._path_of(key), values, self.lines)

    def count(self, key: str, largest: int) -> int | None:
        """Return a whole number of at least 1, None where it is missing."""
        value = self.value(key, int)
        with self.errors_at(key):
            fits = value is None or 1 <= value <= largest
            require(
                fits,
                say(
                    "{key} = {value}: it must be a whole number from 1 to {largest:,}",
                    key=key,
                    value=value,
                    largest=largest,
                ),
            )
        return value

    def read(self, key: str, parse: Callable[[str], Value]) -> Value | None:
        """Return what `parse` makes of a text or a number, None where it is missing."""
        value = self.values.get(key)
        if value is None:
            return None
        with self.errors_at(key):
            fits = isinstance(value, str | int | float) and not isinstance(value, bool)
            require(fits, say("{key} is neither a text nor a number", key=key))
            return parse(str(value))

    def texts(self, key: str, hint: str) -> list[str]:
        """Return a list of texts; raise FileError where it is missing."""
        with self.errors_at():
            require(key in self.values, say("{key} is missing", key=key), hint)
        return self._list(key, str, hint)

    def numbers(self, key: str, hint: str) -> list[int]:
        """Return a list of whole numbers, empty where it is missing."""
        return self._list(key, int, hint) if key in self.values else []

    def one_or_more(self, key: str, kinds: type | UnionType, problem: str, hint: str) -> list[str]:
        """Return the texts of a value or a list of values, empty where it is missing."""
        value = self.values.get(key, [])
        with self.errors_at(key):
            items = value if isinstance(value, list) else [value]
            fits = all(isinstance(x, kinds) and not isinstance(x, bool) for x in items)
            require(fits, problem, hint)
            return list(map(str, items))

    def _path_of(self, key: str) -> str:
        prefix = "" if key.partition(".")[0] in self.from_top else self.prefix
        return ".".join(part for part in (prefix, key) if part)

    def _list(self, key: str, kind: type[Value], hint: str) -> list[Value]:
        items = self.values[key]
        with self.errors_at(key):
            if not isinstance(items, list) or not items:
                raise UsageError(say("{key} is not a list", key=key), hint)
            # In Python, true is a whole number.
            values = [x for x in items if isinstance(x, kind) and not isinstance(x, bool)]
            require(len(values) == len(items), say("{key} is not a list", key=key), hint)
            return values
