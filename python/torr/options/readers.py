"""Readers of options: each turns a text into one typed value, and refuses other texts.

A reader knows neither its option nor where the text stands: it raises UsageError, and its caller
names the flag, the keyword or the line of a file.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from torr import units
from torr.errors import UsageError, require
from torr.grpc.method_name import method_name
from torr.messages.say import say
from torr.model.cancellation import Cancellation
from torr.model.check import BodyCheck, Capture, JsonCheck, parse_statuses
from torr.model.label import read_note, read_tag
from torr.model.least_capacity import LeastCapacity
from torr.model.matching import Matching
from torr.model.outside_file import check_readable, read_bounded
from torr.model.pace import MOST_PER_S, MOST_USERS, Stage, Think
from torr.model.pin import read_pin
from torr.model.plan import MOST_PROCESSES, MOST_REQUESTS, MOST_WORKERS
from torr.model.profiling import ProfileRequest
from torr.model.request import basic, check_header, check_method
from torr.model.transport import Proxy
from torr.model.url import Url
from torr.procfs.process import exists
from torr.results.position import position_of
from torr.sources.names import is_plan_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.model.change import Change
    from torr.model.condition import Condition
    from torr.monitor.exporters import ServingPlace
    from torr.results.position import Position

LARGEST_BYTES = 2**50

T_co = TypeVar("T_co", covariant=True)
ChoiceText = TypeVar("ChoiceText", bound=str)

_DURATION = re.compile(r"\d+(\.\d+)?(ns|us|ms|s|m|h)")
_TRUE = frozenset({"1", "true", "t", "yes", "y", "on"})
_FALSE = frozenset({"0", "false", "f", "no", "n", "off"})


@dataclass(frozen=True)
class Reader(Generic[T_co]):
    """A function from text to value; help shows `name` in place of the text.

    `example` is a text that it reads, empty where only the name of a file would be one.
    """

    name: str
    read: Callable[[str], T_co]
    example: str = ""
    choices: tuple[str, ...] = ()


def one_of(name: str, choices: tuple[ChoiceText, ...]) -> Reader[ChoiceText]:
    """Return the reader of one of these words."""

    def read(text: str) -> ChoiceText:
        for choice in choices:
            if text == choice:
                return choice
        several = "one of " if len(choices) > 1 else ""
        raise UsageError(
            say(
                "{text!r} is not {several}{choices}",
                text=text,
                several=several,
                choices=", ".join(map(repr, choices)),
            )
        )

    return Reader(name, read, choices[-1], choices)


def whole(name: str, least: int, most: int | None = None) -> Reader[int]:
    """Return the reader of a whole number within bounds."""
    return Reader(name, lambda text: _whole(text, least, most), f"{max(least, 7)}")


MOST_ID = 2**31 - 1
"""The largest integer that the columns of both databases can hold."""

RUN_ID = whole("ID", 1, MOST_ID)


def count(most: int) -> Reader[int]:
    """Return the reader of a number of things, at least one: `500`, `10k`."""
    return Reader("N", lambda text: _count(text, most), "64")


def _switch(text: str) -> bool:
    word = text.strip().lower()
    require(word in _TRUE | _FALSE, say("{text!r} is neither true nor false", text=text))
    return word in _TRUE


def _duration(text: str) -> int:
    return units.parse_duration(text)


def _some_duration(text: str) -> int:
    nanoseconds = units.parse_duration(text)
    if nanoseconds == 0:
        raise UsageError(
            say("{text!r} is not longer than 0", text=text), say("write a duration such as 10s")
        )
    return nanoseconds


def _count(text: str, most: int) -> int:
    number = units.parse_count(text)
    if number < 1:
        raise UsageError(say("{text!r} is not at least 1", text=text))
    if number > most:
        raise UsageError(
            say("{text!r} is too many", text=text), say("the maximum is {most:,}", most=most)
        )
    return number


def _whole(text: str, least: int, most: int | None = None) -> int:
    digits = text.strip().replace("_", "")
    if not re.fullmatch(r"[+-]?[0-9]+", digits):
        raise UsageError(say("{text!r} is not a whole number", text=text))
    number = int(digits)
    if number < least or (most is not None and number > most):
        span = f"at least {least}" if most is None else f"between {least} and {most}"
        raise UsageError(say("{text!r} is not {span}", text=text, span=span))
    return number


def _any_rate(text: str) -> float:
    per_second = units.parse_rate(text)
    if per_second > MOST_PER_S:
        raise UsageError(
            say("{text!r} is too high", text=text),
            say("the maximum is {most_per_s:,} per second", most_per_s=MOST_PER_S),
        )
    return per_second


def _size(text: str) -> int:
    size = units.parse_size(text)
    if size > LARGEST_BYTES:
        raise UsageError(
            say("{text!r} is too large", text=text),
            say("the maximum is {format_size}", format_size=units.format_size(LARGEST_BYTES)),
        )
    return size


def _rate(text: str) -> float:
    per_second = _any_rate(text)
    if per_second <= 0:
        raise UsageError(
            say("{text!r} is not a rate above 0", text=text), say("write 500, 10k or 200/s")
        )
    return per_second


def _position(text: str) -> Position:
    return position_of(None, _rate(text))


def _some_number(text: str) -> float:
    number = _number(text)
    if number <= 0:
        raise UsageError(say("{text!r} is not more than 0", text=text))
    return number


def _weights(text: str) -> tuple[int, ...]:
    return tuple(_whole(word, 1, 2**32 - 1) for word in text.split(","))


def _processes(text: str) -> int | Literal["auto"]:
    return "auto" if text.strip() == "auto" else _whole(text, 1, MOST_PROCESSES)


def _share(text: str) -> float:
    share = units.parse_percent(text) / 100 if "%" in text else _number(text)
    if not 0 <= share <= 1:
        raise UsageError(say("{text!r} is not a share", text=text), say("write 0.1 or 10%"))
    return share


def _number(text: str) -> float:
    if not re.fullmatch(r"\d+(\.\d*)?|\.\d+", text.strip()):
        raise UsageError(say("{text!r} is not a number", text=text))
    return float(text)


def _url(text: str) -> str:
    """A URL, or a plan file."""
    if is_plan_file(text):
        return _file(text)
    Url.parse(text, messages=True)
    return text


def _method(text: str) -> str:
    check_method(text)
    return text


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon:
        raise UsageError(say("{text!r} has no colon", text=text), say("write it as 'Name: value'"))
    header = (name.strip(" "), value.strip(" \t"))
    check_header(header)
    return header


def _folder(text: str) -> Path:
    if _DURATION.fullmatch(text):
        raise UsageError(
            say("{text!r} looks like a duration, and -d is the output directory", text=text),
            say("write -z {text} for the duration (or -d ./{text} for the directory)", text=text),
        )
    return Path(text)


def _credentials(text: str) -> tuple[str, str]:
    user, colon, password = text.partition(":")
    if not colon:
        raise UsageError(say("the password is missing"), say("write USER:PASSWORD"))
    return basic(user, password)


def _address(text: str) -> str:
    from ipaddress import ip_address

    try:
        return str(ip_address(text.strip("[]")))
    except ValueError as error:
        raise UsageError(
            say("{text!r} is not an IP address", text=text), say("write 127.0.0.1 or ::1")
        ) from error


def _new_file(text: str) -> Path:
    """A file that can be written, as far as can be checked before the load."""
    path = Path(text)
    if not path.parent.is_dir():
        raise UsageError(
            say(
                "{text}: cannot be written: there is no folder {parent}",
                text=text,
                parent=path.parent,
            ),
            say("create it"),
        )
    require(
        not path.is_dir(),
        say("{text}: cannot be written: it is a folder", text=text),
        say("name a file in it"),
    )
    # A file that exists is replaced by a new one, so the folder counts.
    require(
        os.access(path.parent, os.W_OK),
        say("{text}: cannot be written: {parent} is read-only", text=text, parent=path.parent),
        say("name a file in another folder"),
    )
    return path


def _existing_folder(text: str) -> str:
    require(Path(text).is_dir(), say("{text} is not a folder", text=text))
    return text


def _file(text: str) -> str:
    """A file that can be read, by its path."""
    try:
        check_readable(Path(text))
    except OSError as error:
        raise UsageError(f"{text}: {error.strerror}") from error
    return text


def _file_or_folder(text: str) -> str:
    """A folder, or a file that can be read, by its path."""
    return text if Path(text).is_dir() else _file(text)


def watched(text: str) -> int | Url | ServingPlace:
    """The id of a running process, a URL, or the name of an LLM server or GPU."""
    if not text.strip().isdigit():
        from torr.monitor.exporters import serving_place  # needed for --monitor only

        return serving_place(text) or Url.parse(text, templates=False)
    pid = int(text)
    if not exists(pid):
        raise UsageError(
            say("there is no process {pid}", pid=pid),
            say("give the id of a running process, or a URL"),
        )
    return pid


def _profiled(text: str) -> ProfileRequest:
    """A running process, or the URL of a Go server's pprof."""
    found = ProfileRequest.parse(text)
    if found.pid is not None:
        watched(f"{found.pid}")  # says at once where there is none
    return found


def _content(text: str) -> bytes:
    """The text itself, or the content of `@FILE`."""
    if not text.startswith("@"):
        return text.encode()
    try:
        return read_bounded(Path(text[1:]))
    except OSError as error:
        raise UsageError(f"{text[1:]}: {error.strerror}") from error


def _condition(text: str) -> Condition:
    from torr.model.condition import Condition  # what it imports is needed for conditions only

    return Condition.parse(text)


def _slos(text: str) -> tuple[Condition, ...]:
    from torr.model.slo_preset import read_slos

    return read_slos(text)


def _change(text: str) -> Change:
    from torr.model.change import Change

    return Change.parse(text)


TEXT = Reader("TEXT", str, "hello")
NAME = Reader("NAME", str, "api")
PATH = Reader("FILE", str, "exchanges.csv")
HOST = Reader("ADDRESS", str, "127.0.0.1")
SWITCH = Reader("", _switch)
DURATION = Reader("TIME", _duration, "2s")
SOME_DURATION = Reader("TIME", _some_duration, "1.5s")
COUNT = count(MOST_USERS)
REQUESTS = count(MOST_REQUESTS)
WORKERS = count(MOST_WORKERS)
PROCESSES: Reader[int | Literal["auto"]] = Reader("N|auto", _processes, "2")
SEED = whole("N", 0, 2**64 - 1)
PORT = whole("PORT", 0, 65535)
RATE = Reader("RATE", _rate, "200/s")
POSITION = Reader("N", _position, "50")
"""A level by its number of users, or by its rate."""
ANY_RATE = Reader("RATE", _any_rate, "10k")
SHARE = Reader("SHARE", _share, "10%")
NUMBER = Reader("X", _number, "0.5")
SIZE = Reader("SIZE", _size, "64KiB")
URL = Reader("URL", _url, "http://localhost:8080/")
METHOD = Reader("METHOD", _method, "PUT")
GRPC_METHOD = Reader("METHOD", method_name, "shop.Cart/Add")
MATCHING = Reader("HOW", Matching.parse, "id:id")
HEADER = Reader("'NAME: VALUE'", _header, "x-user: ann")
FOLDER = Reader("DIR", _folder, "results")
PIN = Reader("CORES", read_pin, "0/1-3")
STATUSES = Reader("STATUS", parse_statuses, "2xx,404")
CREDENTIALS = Reader("USER:PASSWORD", _credentials, "ann:secret")
ADDRESS = Reader("IP", _address, "127.0.0.2")
CANCELLATION = Reader("SHARE after WHEN", Cancellation.parse, "10% after 2s")
THINK = Reader("TIME", Think.parse, "1s-3s")
STAGES = Reader("TIME:N,…", Stage.parse_all, "30s:100,2m:1k,30s:0")
SOME_NUMBER = Reader("X", _some_number, "2")
WEIGHTS = Reader("N,…", _weights, "8,1,1")
BODY_CHECK = Reader("TEXT|/REGEX/", BodyCheck.parse, "ready")
JSON_CHECK = Reader("PATH=VALUE", JsonCheck.parse, "$.status=ok")
CAPTURE = Reader("NAME=WHERE", Capture.parse, "id=json:$.id")
PROXY = Reader("URL", Proxy.parse, "http://127.0.0.1:3128")
FILE = Reader("FILE", _file)
FILE_OR_FOLDER = Reader("FILE", _file_or_folder)
EXISTING_FOLDER = Reader("DIR", _existing_folder, ".")
NEW_FILE = Reader("FILE", _new_file, "junit.xml")
CONTENT = Reader("TEXT|@FILE", _content, '{"n": 1}')
WATCHED = Reader("SOURCE", watched, "http://localhost:9090")
PROFILED = Reader("PID|URL", _profiled, "http://localhost:6060/debug/pprof")
PROFILED_SERVERS = Reader("cpu|memory|URL", ProfileRequest.of_servers, "cpu")
CONDITION = Reader("COND", _condition, "p95 < 500ms")
SLOS = Reader("COND", _slos, "p95 < 500ms")
CAPACITY = Reader("CAPACITY", LeastCapacity.parse, "5000 ok/s")
CHANGE = Reader("CHANGE", _change, "p99 > +10%")
NOTE = Reader("TEXT", read_note, "api 1.2 CPU")
TAG = Reader("TAG", read_tag, "baseline")
