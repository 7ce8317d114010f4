"""Keywords of a call: the options of its command, by Python's names and with Python's values.

A keyword is its flag's long name with underscores: `connections`, `json_body`, `abort_on`. A switch
`--no-keepalive` is `keepalive`, which is on unless it is False. Values are what a shell would give,
or the Python value of the same meaning: see `text_of`. Options that only speak to a terminal or
choose an exit code are no keywords.
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
from torr.options.definition import Front
from torr.options.measure import MeasureOptions
from torr.options.verbs import RUN, no_such_flag
from torr.planning.file_keys import values_of_plan
from torr.units import SECOND_NS, format_duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.options.definition import Option
    from torr.options.verbs import VerbOptions

Texts = str | bytes | bool | list[Any]
Groups = tuple[str, ...] | None
Urls = str | Sequence[str]


def keywords(verb: VerbOptions, groups: Groups = None) -> dict[str, Option]:
    """Return the option of each keyword, in the order of the help; of some groups only."""
    found = [each for each in verb.of(Front.KEYWORD) if groups is None or each.group in groups]
    return {option.keyword: option for option in found}


def default_of(option: Option) -> str | int | None:
    """Return what a keyword is when it is not given; None where that depends on others."""
    return option.is_negated if option.is_switch else option.default


def says(option: Option) -> str:
    """Return what a keyword does, as the help of the command has it."""
    return f"if False, {option.help}" if option.is_negated else option.help


def read(
    verb: VerbOptions, urls: Urls, given: Mapping[str, Any], groups: Groups = None
) -> tuple[MeasureOptions, list[str]]:
    """Return the options of a call, and the command line that says the same.

    Raises UsageError with the command's own message.
    """
    known = keywords(verb, groups)
    places = [urls] if isinstance(urls, str) else list(urls)
    texts = {
        _known(key, known, verb): text_of(known[key], value)
        for key, value in given.items()
        if value is not None or key not in known
    }
    values = values_of_plan(verb, places)
    for key, text in texts.items():
        with _named(verb, known[key].label):
            values[known[key].field] = _value(known[key], text)
    with _named(verb, "URL"):
        read_urls = [readers.URL.read(place) for place in places]
    options = MeasureOptions.of(verb, read_urls, values)
    return options, [*_command(verb.verb, known, texts), *places]


def text_of(option: Option, value: Any) -> Texts:  # noqa: ANN401 - whatever was given
    """Return what a shell would say: seconds for a number of time, a list joined by commas.

    Bytes stay bytes, a switch is its bool, and a repeatable option gets a list.
    """
    if option.is_switch:
        if not isinstance(value, bool):
            raise UsageError(f"{option.keyword}={value!r}: it is a switch", "say True or False")
        return value != option.is_negated
    if option.is_repeatable:
        return [_text(option, each) for each in _several(value)]
    return _text(option, value)


def described(call: Callable[..., Any], known: Mapping[str, Option]) -> str:
    """Return the documentation of a call: its sentence, then a line a keyword."""
    lines = [f"{key}: {says(option)}" for key, option in known.items()]
    return "\n".join([str(call.__doc__), "", *lines])


def signature(call: Callable[..., Any], known: Mapping[str, Option]) -> Signature:
    """Return the signature of a call: its own parameters, then the keywords for `**flags`."""
    own = [p for p in Signature.from_callable(call).parameters.values() if p.name != "flags"]
    flags = [
        Parameter(key, Parameter.KEYWORD_ONLY, default=default_of(option))
        for key, option in known.items()
    ]
    return Signature([*own, *flags])


def _value(option: Option, text: Texts) -> Any:  # noqa: ANN401 - a type each
    """The value that the option holds; bytes and switches are values already."""
    return text if isinstance(text, bytes | bool) else option.read(text)


@contextmanager
def _named(verb: VerbOptions, label: str) -> Iterator[None]:
    """Name command and option in what is refused within."""
    try:
        yield
    except UsageError as error:
        said = f"{verb.verb}: {label}: {error.message}"
        raise UsageError(said, error.hint or f"torr {verb.verb} --help") from error


def _known(key: str, known: Mapping[str, Option], verb: VerbOptions) -> str:
    """The keyword, if there is one; as the command says it of a flag, if not."""
    if key in known:
        return key
    if any(key == option.key and Front.KEYWORD not in option.fronts for option in RUN.all):
        hint = "nothing is printed: read .passed, .health and the rest of the result"
        raise UsageError(f"{verb.verb}: {key} is of the command line alone", hint)
    flag = f"--{key.replace('_', '-')}"
    near = get_close_matches(flag, [known[other].long for other in get_close_matches(key, known)])
    said, hint_of_flag = no_such_flag(verb.verb, flag, near)
    raise UsageError(f"{verb.verb}: {said}", hint_of_flag or f"torr {verb.verb} --help")


def _several(value: Any) -> Iterable[Any]:  # noqa: ANN401
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
        return ",".join(str(each) for each in value)
    given = f"{option.keyword}={value!r}"
    raise UsageError(f"{given}: {type(value).__name__} is no value for it", f"see {option.long}")


def _content(option: Option, value: Any) -> bytes:  # noqa: ANN401
    """Bytes as they are; JSON of any other value, where JSON is asked for."""
    if isinstance(value, bytes):
        return value
    if option.keyword != "json_body":
        raise UsageError(
            f"{option.keyword}: {type(value).__name__} is neither text nor bytes",
            "json_body takes any value that JSON has",
        )
    try:
        return json.dumps(value).encode()
    except (TypeError, ValueError) as error:
        raise UsageError(f"{option.keyword}: not JSON: {error}") from error


def _seconds(value: Real) -> str:
    """A number of seconds as text; one that is none is left to the reader to refuse."""
    seconds = float(value)
    if seconds < 0 or seconds * SECOND_NS >= 2**63 or seconds != seconds:  # noqa: PLR0124 - NaN
        return f"{value}s"
    return format_duration(round(seconds * SECOND_NS))


def _command(verb: str, known: Mapping[str, Option], texts: Mapping[str, Texts]) -> list[str]:
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
