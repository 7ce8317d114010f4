"""python/torr/__init__.pyi: the types of `torr.run` and its like, read from the flags.

What a keyword may be follows from what its flag reads: a duration may be a number of seconds, a
repeatable flag a list. A type of flag that has no line in TYPES may be any plain value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.api import calls
from torr.api.keywords import default_of, help_text, keywords
from torr.options.stream import ALIAS
from torr.options.tune import TUNE
from torr.options.verbs import LADDER, RUN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from torr.options.definition import Option

TYPES = {
    "TIME": "_Duration",
    "N": "int",
    "N|auto": "int | str",
    "N|A..B": "int | str",
    "RATE": "str | float",
    "'NAME: VALUE'": "_Headers",
    "USER:PASSWORD": "str | tuple[str, str]",
    "STATUS": "str | int | Sequence[str | int]",
    "LIST": "str | Sequence[int]",
    "TEXT|@FILE": "str | bytes",
    "METHOD": "str",
    "NAME": "str",
    "COND": "str",
    "IP": "str",
    "FILE": "_Path",
    "DIR": "_Path",
    "TIME:N,…": "str",
    "N,…": "str | Sequence[int]",
    "X": "float",
    "TEXT|/REGEX/": "str",
    "PATH=VALUE": "str",
    "NAME=WHERE": "str",
    "URL": "str",
    "PID|URL": "str | int",
    "SOURCE": "str | int",
    "TEXT": "str",
    "TAG": "str",
    "WIDTHxHEIGHT": "str",
    "N|TIME": "str | int",
}
"""By the name that a flag's help shows."""

ANY = "str | float | _Path | Sequence[str | float]"
JSON = "json_body"

_HEAD = '''\
"""torr: pressure testing for APIs. Written by `make reference`, from the flags of the commands.

Keywords are flags: `torr.run(url, connections=200, duration="30s")`. Times are text with a unit
(`"1.5ms"`, `"10s"`, `"2m"`) or seconds, rates text (`"10k"`) or numbers a second. What is wrong
raises torr.errors.UsageError with the message of the command.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

from torr import errors as errors
from torr import targets as targets
from torr.api.answer import Answer as Answer
from torr.api.result import Result as Result
from torr.api.result import load as load
from torr.results.level import Interval as Interval
from torr.results.level import Level as Level

__version__: str

_Path: TypeAlias = str | os.PathLike[str]
_Duration: TypeAlias = str | float
_Headers: TypeAlias = Mapping[str, str] | Sequence[str | tuple[str, str]] | str
_Progress: TypeAlias = Callable[[Interval], object]
'''

_MEASURING = """\
    Prints nothing. `progress` is called with every interval as it comes, from this thread; what it
    raises ends the load and is raised here. Ctrl-C in the main thread ends the load and raises
    KeyboardInterrupt. Either way everything measured is stored in the run's directory.

    Raises UsageError before anything is sent, NothingMeasuredError where nothing answers.
"""
_FILE = "    file: _Path,"
_ONE = """\
    Raises UsageError before anything is sent, NothingMeasuredError without a complete response.
"""


def text() -> str:
    """The whole stub."""
    parts = [
        f"{_HEAD}_Tool: TypeAlias = {_literal(ALIAS.choices)}\n",
        _call("run", "Result", _SAYS["run"], keywords(RUN), _MEASURING),
        _call("ladder", "Result", _SAYS["ladder"], keywords(LADDER), _MEASURING),
        _call("tune", "Result", _SAYS["tune"], keywords(TUNE), _MEASURING, _FILE),
        _call("once", "Answer", _SAYS["once"], keywords(RUN, calls.REQUEST_GROUPS), _ONE),
    ]
    return "\n".join(parts)


_SAYS = {
    name: str(getattr(calls, name).__doc__).partition("\n")[0]
    for name in ("run", "ladder", "once", "tune")
}


def _call(  # noqa: PLR0913, PLR0917
    name: str, gives: str, sentence: str, known: Mapping[str, Option], more: str, first: str = ""
) -> str:
    own = ["    progress: _Progress | None = None,"] if gives == "Result" else []
    url = "    url: str | Sequence[str] = ()," if gives == "Result" else "    url: str,"
    lines = [f"def {name}(", first or url, "    *,", *own]
    lines += [_wrapped(f"    {key}: {annotation(option)},") for key, option in known.items()]
    lines += [f") -> {gives}:", f'    """{sentence}', "", more]
    lines += [f"    {key}: {help_text(option)}" for key, option in known.items()]
    return "\n".join([*lines, '    """', ""])


def _wrapped(line: str) -> str:
    """Break a long line as `ruff format` does."""
    return line if len(line) <= 100 else line.replace("] | None", "]\n    | None")


def annotation(option: Option) -> str:
    """The type of a keyword, with its default."""
    default = default_of(option)
    if option.is_switch:
        return f"bool = {default}"
    kind = _kind(option)
    if option.is_repeatable and kind != "_Headers":
        kind = f"{kind} | Sequence[{kind}]"
    if default is None:
        return f"{kind} | None = None"
    return f"{kind} = " + (f'"{default}"' if isinstance(default, str) else f"{default}")


def _kind(option: Option) -> str:
    if option.reader is ALIAS:
        return "_Tool"
    if option.reader.choices:
        return _literal(option.reader.choices)
    if option.keyword == JSON:
        return "object"
    return TYPES.get(option.reader.name, ANY)


def _literal(choices: Iterable[str]) -> str:
    return f"Literal[{', '.join(_quoted(choice) for choice in choices)}]"


def _quoted(word: str) -> str:
    return f'"{word}"'
