"""Keywords of a call, read from the flags of its command: a new flag is a new keyword.

A keyword is its flag's long name with underscores: `connections`, `json_body`, `abort_on`. A switch
`--no-keepalive` is `keepalive`, which is on unless it is False. Values are what a shell would give,
or the Python value of the same meaning: see `text_of`. Flags that only speak to a terminal or
choose an exit code are no keywords.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import Parameter, Signature
from keyword import iskeyword
from numbers import Real
from typing import Any

import click

from torr.cli.command import Flag
from torr.cli.usage import explained
from torr.errors import UsageError
from torr.options import readers
from torr.units import SECOND_NS, format_duration

LEFT_OUT = {"once", "verbose", "output", "quiet", "lang", "strict", "junit"}
LEFT_OUT |= {"live", "live_port", "live_host", "live_stay"}
PLURAL = {"header": "headers", "tag": "tags"}

Words = str | bytes | bool | list[Any]
Groups = tuple[str, ...] | None
Urls = str | Sequence[str]


@dataclass(frozen=True, slots=True)
class Keyword:
    """One keyword and its flag; `is_negated` says that it is on where the flag is off."""

    name: str
    flag: Flag
    is_negated: bool = False

    @property
    def long(self) -> str:
        """The flag as a shell has it."""
        return next(name for name in self.flag.opts if name.startswith("--"))

    @property
    def default(self) -> Any:  # noqa: ANN401 - text, or a switch's bool
        """What it is when it is not given; None where that depends on other keywords."""
        default = self.flag.default
        if self.flag.is_flag:
            return self.is_negated
        if isinstance(default, os.PathLike):
            return os.fspath(default)
        return default if isinstance(default, str | int | float) else None

    @property
    def says(self) -> str:
        """What it does, as the help of the command has it."""
        return f"if False, {self.flag.help}" if self.is_negated else str(self.flag.help)


def keywords(verb: click.Command, groups: Groups = None) -> dict[str, Keyword]:
    """Every keyword that a command's call takes, in the order of its help; of some groups only."""
    flags = [flag for flag in verb.params if isinstance(flag, Flag)]
    found = [_keyword(flag) for flag in flags if groups is None or flag.group in groups]
    return {keyword.name: keyword for keyword in found if keyword.name not in LEFT_OUT}


def read(
    verb: click.Command, urls: Urls, given: Mapping[str, Any], groups: Groups = None
) -> tuple[dict[str, Any], list[str]]:
    """The flags of a call, as its command gets them, and the command line that says the same.

    Raises UsageError with the command's own message.
    """
    known = keywords(verb, groups)
    name = f"torr {verb.name}"
    places = [urls] if isinstance(urls, str) else list(urls)
    try:
        texts = {
            _known(key, known, name, verb): text_of(known[key], value)
            for key, value in given.items()
            if value is not None or key not in known
        }
        defaults = {known[key].flag.name: text for key, text in texts.items()}
        context = verb.make_context(name, ["--", *places], default_map=defaults)
    except click.UsageError as error:
        raise explained(error) from error
    return context.params, [*_command(str(verb.name), known, texts), *places]


def text_of(keyword: Keyword, value: Any) -> Words:  # noqa: ANN401 - whatever was given
    """What a shell would say: seconds for a number of time, `Name: value` for pairs, a list joined.

    Bytes stay bytes, and a repeatable flag gets a list.
    """
    flag = keyword.flag
    if flag.is_flag:
        if not isinstance(value, bool):
            raise UsageError(f"{keyword.name}={value!r}: it is a switch", "say True or False")
        return value != keyword.is_negated
    if flag.multiple:
        return [_text(keyword, each) for each in _several(value)]
    return _text(keyword, value)


def described(call: Callable[..., Any], known: Mapping[str, Keyword]) -> str:
    """The documentation of a call: its sentence, then a line a keyword."""
    lines = [f"{key}: {keyword.says}" for key, keyword in known.items()]
    return "\n".join([str(call.__doc__), "", *lines])


def signature(call: Callable[..., Any], known: Mapping[str, Keyword]) -> Signature:
    """The signature of a call: its own parameters, then the keywords in place of `**flags`."""
    own = [p for p in Signature.from_callable(call).parameters.values() if p.name != "flags"]
    flags = [
        Parameter(key, Parameter.KEYWORD_ONLY, default=keyword.default)
        for key, keyword in known.items()
    ]
    return Signature([*own, *flags])


def _keyword(flag: Flag) -> Keyword:
    long = next(name for name in flag.opts if name.startswith("--")).removeprefix("--")
    if flag.is_flag and long.startswith("no-"):
        return Keyword(long.removeprefix("no-").replace("-", "_"), flag, is_negated=True)
    name = PLURAL.get(long, long).replace("-", "_")
    # What is a word of Python itself gets an underscore, as PEP 8 has it.
    return Keyword(f"{name}_" if iskeyword(name) else name, flag)


def _known(key: str, known: Mapping[str, Keyword], name: str, verb: click.Command) -> str:
    """The keyword, if there is one; as click says it of a flag, if not."""
    if key in known:
        return key
    if key in LEFT_OUT:
        hint = "nothing is printed: read .passed, .health and the rest of the result"
        raise UsageError(f"{verb.name}: {key} is of the command line alone", hint)
    near = get_close_matches(key, known, 3)
    context = click.Context(verb, info_name=name)
    flags = [known[other].long for other in near]
    raise click.NoSuchOption(f"--{key.replace('_', '-')}", possibilities=flags, ctx=context)


def _several(value: Any) -> Iterable[Any]:  # noqa: ANN401
    if isinstance(value, Mapping):
        return list(value.items())
    return value if isinstance(value, Iterable) and not isinstance(value, str) else [value]


def _text(keyword: Keyword, value: Any) -> str | bytes:  # noqa: ANN401 - a kind each
    kind = keyword.flag.type
    if kind is readers.CONTENT and not isinstance(value, str):
        return _content(keyword, value)
    if isinstance(value, str):
        return value
    if isinstance(value, Real):
        return _seconds(value) if getattr(kind, "name", None) == "TIME" else str(value)
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, tuple) and kind in (readers.HEADER, readers.CREDENTIALS):
        return (": " if kind is readers.HEADER else ":").join(map(str, value))
    if isinstance(value, Iterable) and not isinstance(value, bytes | Mapping):
        return ",".join(str(each) for each in value)
    given = f"{keyword.name}={value!r}"
    raise UsageError(f"{given}: {type(value).__name__} is no value for it", f"see {keyword.long}")


def _content(keyword: Keyword, value: Any) -> bytes:  # noqa: ANN401
    """Bytes as they are; JSON of any other value, where JSON is asked for."""
    if isinstance(value, bytes):
        return value
    if keyword.name != "json_body":
        raise UsageError(
            f"{keyword.name}: {type(value).__name__} is neither text nor bytes",
            "json_body takes any value that JSON has",
        )
    try:
        return json.dumps(value).encode()
    except (TypeError, ValueError) as error:
        raise UsageError(f"{keyword.name}: not JSON: {error}") from error


def _seconds(value: Real) -> str:
    """A number of seconds as text; one that is none is left to the flag to refuse."""
    seconds = float(value)
    if seconds < 0 or seconds * SECOND_NS >= 2**63 or seconds != seconds:  # noqa: PLR0124 - NaN
        return f"{value}s"
    return format_duration(round(seconds * SECOND_NS))


def _command(verb: str, known: Mapping[str, Keyword], texts: Mapping[str, Words]) -> list[str]:
    """The same as a command line: what result.json keeps of a run."""
    line = [verb]
    for key, text in texts.items():
        flag = known[key].long
        if isinstance(text, bool):
            line += [flag] if text else []
            continue
        for each in text if isinstance(text, list) else [text]:
            line += [flag, each.decode(errors="replace") if isinstance(each, bytes) else each]
    return line
