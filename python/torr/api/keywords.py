"""The keywords of a call: the options of its command, with Python's names and values.

A keyword is the long name of a flag with underscores: `connections`, `json_body`, `abort_on`. A
switch `--no-keepalive` is `keepalive`, with the default True. Values are texts as in a shell, or
Python values of the same meaning: see `text_of`. Options that only affect the terminal or the exit
code are not keywords.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from inspect import Parameter, Signature
from numbers import Real
from typing import TYPE_CHECKING, Any

from torr.errors import UsageError
from torr.options import readers
from torr.options.definition import OptionScope
from torr.options.measure import MeasureOptions
from torr.options.verbs import RUN, no_such_flag
from torr.planning.file_keys import values_of_plan
from torr.units import SECOND_NS, format_duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.options.definition import Option, VerbOptions

Texts = str | bytes | bool | list[Any]
Groups = tuple[str, ...] | None
Urls = str | Sequence[str]


def keywords(verb: VerbOptions, groups: Groups = None) -> dict[str, Option]:
    """Return the options by keyword, in the order of the help; of all groups or some."""
    options = verb.of(OptionScope.KEYWORD)
    return {o.keyword: o for o in options if groups is None or o.group in groups}


def default_of(option: Option) -> str | int | None:
    """Return the default of a keyword; None if it depends on other options."""
    return option.is_negated if option.is_switch else option.default


def help_text(option: Option) -> str:
    """Return the description of a keyword, from the help of the command."""
    return f"if False, {option.help}" if option.is_negated else option.help


def read(
    verb: VerbOptions, urls: Urls, arguments: Mapping[str, Any], groups: Groups = None
) -> tuple[MeasureOptions, list[str]]:
    """Return the options of a call, and the equivalent command line.

    Raises UsageError with the message of the command.
    """
    urls = [urls] if isinstance(urls, str) else list(urls)
    values, command = read_keywords(verb, arguments, groups)
    with _error_context(verb, "URL"):
        parsed_urls = [readers.URL.read(url) for url in urls]
    options = MeasureOptions.of(verb, parsed_urls, {**values_of_plan(verb, urls), **values})
    return options, [*command, *urls]


def read_keywords(
    verb: VerbOptions, arguments: Mapping[str, Any], groups: Groups = None
) -> tuple[dict[str, Any], list[str]]:
    """Return the values of keywords by the names of fields, and the equivalent command line."""
    known = keywords(verb, groups)
    texts = {
        _known_keyword(key, known, verb): text_of(known[key], value)
        for key, value in arguments.items()
        if value is not None or key not in known
    }
    values = {}
    for key, text in texts.items():
        with _error_context(verb, known[key].label):
            values[known[key].field] = _value(known[key], text)
    return values, _command(verb.verb, known, texts)


def text_of(option: Option, value: Any) -> Texts:  # noqa: ANN401 - whatever was arguments
    """Return a value as text for a shell: a time in seconds, an iterable joined by commas.

    Bytes remain bytes, the value of a switch is a bool, that of a repeatable option a list.
    """
    if option.is_switch:
        if not isinstance(value, bool):
            raise UsageError(
                f"{option.keyword}={value!r} is neither True nor False", "write True or False"
            )
        return value != option.is_negated
    if option.is_repeatable:
        return [_text(option, item) for item in _items(value)]
    return _text(option, value)


def docstring(call: Callable[..., Any], known: Mapping[str, Option]) -> str:
    """Return the docstring of a call: its first sentence, then a line per keyword."""
    lines = [f"{key}: {help_text(option)}" for key, option in known.items()]
    return "\n".join([str(call.__doc__), "", *lines])


def signature(call: Callable[..., Any], known: Mapping[str, Option]) -> Signature:
    """Return the signature of a call: its own parameters, then the keywords for `**flags`."""
    own = [p for p in Signature.from_callable(call).parameters.values() if p.name != "flags"]
    flags = [
        Parameter(key, Parameter.KEYWORD_ONLY, default=default_of(option))
        for key, option in known.items()
    ]
    return Signature([*own, *flags])


def _value(option: Option, text: Texts) -> Any:  # noqa: ANN401 - the option's type
    """Return the value of an option; bytes and bools are values already."""
    return text if isinstance(text, bytes | bool) else option.read(text)


@contextmanager
def _error_context(verb: VerbOptions, label: str) -> Iterator[None]:
    """Add command and option to the message of a UsageError."""
    try:
        yield
    except UsageError as error:
        message = f"{verb.verb}: {label}: {error.message}"
        raise UsageError(message, error.hint or f"torr {verb.verb} --help") from error


def _known_keyword(key: str, known: Mapping[str, Option], verb: VerbOptions) -> str:
    """Return the keyword; raise UsageError, like the command for a flag, if it is unknown."""
    if key in known:
        return key
    if any(key == option.key and OptionScope.KEYWORD not in option.scopes for option in RUN.all):
        hint = "nothing is printed: read .passed, .health and the rest of the result"
        raise UsageError(f"{verb.verb}: {key} is an option of the command line only", hint)
    flag = f"--{key.replace('_', '-')}"
    of_flag = next((name for name, option in known.items() if option.long == flag), None)
    if of_flag is not None:
        raise UsageError(f"{verb.verb}: {key} is called {of_flag}, and takes several values")
    near = get_close_matches(flag, [known[other].long for other in get_close_matches(key, known)])
    message, flag_hint = no_such_flag(verb.verb, flag, near)
    raise UsageError(f"{verb.verb}: {message}", flag_hint or f"torr {verb.verb} --help")


def _items(value: Any) -> Iterable[Any]:  # noqa: ANN401
    if isinstance(value, Mapping):
        return list(value.items())
    return value if isinstance(value, Iterable) and not isinstance(value, str) else [value]


def _text(option: Option, value: Any) -> str | bytes:  # noqa: ANN401 - a kind each
    reader = option.reader
    if reader is readers.CONTENT and not isinstance(value, str):
        return _content(option, value)
    if isinstance(value, str):
        return value
    if isinstance(value, Real):
        return _seconds(value) if reader.name == "TIME" else str(value)
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, tuple) and reader in (readers.HEADER, readers.CREDENTIALS):
        return (": " if reader is readers.HEADER else ":").join(map(str, value))
    if isinstance(value, Iterable) and not isinstance(value, bytes | Mapping):
        return ",".join(map(str, value))
    kind = type(value).__name__
    message = f"{option.keyword}={value!r}: {kind} is not a value for it"
    raise UsageError(message, f"see {option.long}")


def _content(option: Option, value: Any) -> bytes:  # noqa: ANN401
    """Return bytes as they are, or the JSON of another value if the option takes JSON."""
    if isinstance(value, bytes):
        return value
    if option.keyword != "json_body":
        raise UsageError(
            f"{option.keyword}: {type(value).__name__} is neither text nor bytes",
            "give json_body for any JSON value",
        )
    try:
        return json.dumps(value).encode()
    except (TypeError, ValueError) as error:
        raise UsageError(f"{option.keyword}: not JSON: {error}") from error


def _seconds(value: Real) -> str:
    """Return a number of seconds as text; the reader refuses an invalid one."""
    seconds = float(value)
    if seconds < 0 or seconds * SECOND_NS >= 2**63 or seconds != seconds:  # noqa: PLR0124 - NaN
        return f"{value}s"
    return format_duration(round(seconds * SECOND_NS))


def _command(verb: str, known: Mapping[str, Option], texts: Mapping[str, Texts]) -> list[str]:
    """Return the equivalent command line, for result.json."""
    line = [verb]
    for key, text in texts.items():
        flag = known[key].long
        if isinstance(text, bool):
            line += [flag] if text else []
            continue
        for item in text if isinstance(text, list) else [text]:
            line += [flag, item.decode(errors="replace") if isinstance(item, bytes) else item]
    return line
