"""The definition of an option, for flags, keywords, keys of files, help and schemas.

An option is a field of a frozen dataclass, whose default is made by `option`, `many` or `switch`:

    duration_ns: int | None = option("-z/--duration", SOME_DURATION, "…")

Flags of the command line, keywords of calls, keys of files, help, schemas and reference pages are
made from it. A type checker sees that the reader gives what the field holds.
"""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import dataclass, replace
from enum import Flag, auto
from functools import cached_property
from itertools import chain
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from torr.errors import require
from torr.messages.say import say
from torr.options.readers import SWITCH, Reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from _typeshed import DataclassInstance

LOAD, REQUEST, STREAM = "Load", "Request", "Streams and chat"
GRPC, CONNECTION, RESULT = "gRPC", "Connection", "Result"

T = TypeVar("T")
Options = TypeVar("Options", bound="DataclassInstance")
_KEY = "option"


class OptionScope(Flag):
    """Interfaces that accept an option."""

    COMMAND_LINE = auto()
    """A flag; every option is one."""
    KEYWORD = auto()
    """A keyword of `torr.run` and other calls."""
    PLAN = auto()
    """A key of a plan file."""
    BESIDE_PLAN = auto()
    """A flag that may be given beside a plan file."""
    MATRIX = auto()
    """A key, or a factor, of a matrix file."""


_OF_ITS_TYPE = OptionScope(0)
SHELL = OptionScope.COMMAND_LINE | OptionScope.BESIDE_PLAN
EVERYWHERE = OptionScope.KEYWORD | OptionScope.PLAN | OptionScope.BESIDE_PLAN | OptionScope.MATRIX
SET_IN_PLAN_GROUPS = OptionScope.KEYWORD | OptionScope.MATRIX
"""Options that a plan file has in its requests or groups, and whose flags it refuses."""
RUN_SCOPES = OptionScope.KEYWORD | OptionScope.PLAN | OptionScope.BESIDE_PLAN
TERMINAL = OptionScope.PLAN | OptionScope.BESIDE_PLAN
"""Options for a terminal or an exit code, which a call in Python does not have."""


@dataclass(frozen=True)
class Option:
    """One option; messages name its `label`, such as `-z/--duration`.

    Its group and scopes are those of its option type where it names none. `default` is what a user
    would write, None where it depends on others. `field` is the name of the value in its option
    type, `only` the one verb that has the option, `variable` one of the environment that gives it.
    With `has_several`, one text may stand for several values.
    """

    label: str
    reader: Reader[Any]
    help: str
    default: str | int | None = None
    group: str = ""
    rare: bool = False
    scopes: OptionScope = _OF_ITS_TYPE
    only: str | None = None
    variable: str | None = None
    plural: bool = False
    is_switch: bool = False
    is_repeatable: bool = False
    has_several: bool = False
    field: str = ""

    @property
    def flags(self) -> list[str]:
        """The flags on the command line."""
        return self.label.split("/")

    @property
    def long(self) -> str:
        """The long flag, such as `--duration`."""
        return self.flags[-1]

    @property
    def key(self) -> str:
        """The key in a file: the long flag, with `_` for `-`."""
        return self.long.removeprefix("--").replace("-", "_")

    @property
    def is_negated(self) -> bool:
        """Whether the keyword is the opposite of the flag: `--no-keepalive` is `keepalive`."""
        return self.is_switch and self.key.startswith("no_")

    @property
    def keyword(self) -> str:
        """The keyword of a call; a reserved word of Python gets an underscore (PEP 8)."""
        name = self.key.removeprefix("no_") if self.is_negated else self.key
        name = f"{name}s" if self.plural else name
        return f"{name}_" if iskeyword(name) else name

    def read(self, texts: str | list[str]) -> Any:
        """Return the value of one text, or of several of a repeatable option."""
        if not self.is_repeatable:
            return self.reader.read(cast("str", texts))
        return tuple(map(self.reader.read, [texts] if isinstance(texts, str) else texts))


@overload
def option(label: str, reader: Reader[T], help: str, *, default: str | int, **more: Any) -> T: ...


@overload
def option(label: str, reader: Reader[T], help: str, **more: Any) -> T | None: ...


def option(
    label: str,
    reader: Reader[Any],
    help: str,
    *,
    default: str | int | None = None,
    **more: Any,
) -> Any:
    """Define an option with one value; `more` are fields of Option."""
    value = None if default is None else reader.read(str(default))
    return _field(value, Option(label, reader, help, default, **more))


def many(label: str, reader: Reader[T], help: str, **more: Any) -> tuple[T, ...]:
    """Define an option that may be given several times."""
    return cast(
        "tuple[T, ...]", _field((), Option(label, reader, help, is_repeatable=True, **more))
    )


def many_of_several(
    label: str, reader: Reader[tuple[T, ...]], help: str, **more: Any
) -> tuple[T, ...]:
    """Define an option that may be given several times, and each time for several values."""
    several = many(label, reader, help, has_several=True, **more)
    return cast("tuple[T, ...]", several)


def switch(label: str, help: str, **more: Any) -> bool:
    """Define an option that is given or not."""
    return cast("bool", _field(False, Option(label, SWITCH, help, is_switch=True, **more)))


def reuse_option(kind: type[DataclassInstance], field: str, **other: Any) -> Any:
    """Define an option of another option type again, with the changes in `other`."""
    found = next(each for each in dataclasses.fields(kind) if each.name == field)
    option = next(each for each in options_of(kind) if each.field == field)
    return _field(found.default, replace(option, only=None, **other))


def _field(value: object, option: Option) -> Any:
    return dataclasses.field(default=value, metadata={_KEY: option})


def options_of(kind: type[DataclassInstance]) -> tuple[Option, ...]:
    """Return the definitions of an option type: its own first, then those of its base."""
    group: str = vars(kind)["group"]
    scopes: OptionScope = vars(kind).get("scopes", EVERYWHERE)
    found = []
    own_names = inspect.get_annotations(kind)
    for each in sorted(dataclasses.fields(kind), key=lambda each: each.name not in own_names):
        own: Option = each.metadata[_KEY]
        of = own.group or group, own.scopes or scopes
        found.append(replace(own, field=each.name, group=of[0], scopes=of[1]))
    return tuple(found)


@dataclass(frozen=True)
class VerbOptions:
    """The options of a verb, by its option types."""

    verb: str
    kinds: tuple[type[DataclassInstance], ...]

    @cached_property
    def all(self) -> tuple[Option, ...]:
        """Every option in the order of the help."""
        found = [option for kind in self.kinds for option in options_of(kind)]
        return tuple(option for option in found if option.only in (None, self.verb))

    def of(self, scope: OptionScope) -> tuple[Option, ...]:
        """Return the options that exist in a scope."""
        return tuple(option for option in self.all if scope in option.scopes)

    def keys(self, scope: OptionScope) -> dict[str, Option]:
        """Those that are keys of a kind of file, by key."""
        return {option.key: option for option in self.of(scope)}


def build_options(kind: type[Options], values: Mapping[str, object]) -> Options:
    """Return an option type with the given values that it has, and defaults for the others."""
    known = {option.field: option for option in options_of(kind)}
    own = {name: value for name, value in values.items() if name in known}
    for name, value in own.items():
        if known[name].has_several:
            own[name] = tuple(chain.from_iterable(cast("Iterable[Iterable[object]]", value)))
    return kind(**own)


def values_in(part: DataclassInstance) -> dict[str, Any]:
    """Return the values of an option type by the names of its fields."""
    return {each.name: getattr(part, each.name) for each in dataclasses.fields(part)}


def first_given(part: DataclassInstance, *names: str) -> Option | None:
    """Return the first of these options that has a value other than its default, if any."""
    fields = {each.name: each for each in dataclasses.fields(part)}
    named = next((n for n in names if getattr(part, n) != fields[n].default), None)
    option: Option | None = None if named is None else fields[named].metadata[_KEY]
    return option


def refuse(part: DataclassInstance, *names: str, what: str, hint: str = "leave one out") -> None:
    """Refuse options that contradict another one; raises UsageError."""
    found = first_given(part, *names)
    require(
        found is None,
        say("{label} and {what} are both given", label=found.label if found else "", what=what),
        hint,
    )


def require_for(part: DataclassInstance, *names: str, what: str, hint: str) -> None:
    """Refuse options that need another one; raises UsageError."""
    found = first_given(part, *names)
    require(
        found is None,
        say("{label} needs {what}", label=found.label if found else "", what=what),
        hint,
    )
