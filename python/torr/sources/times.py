"""Times of requests, read from a file with one time per line, to be replayed.

A line is a number of seconds (from any start, or since 1970), begins with an ISO 8601 time, or is
of an access log with `[10/Oct/2000:13:55:36 -0700]`. The first line decides for all lines. If no
time has a fraction of a second, those of the same second are spread evenly within it; otherwise
each second would begin with a burst that the recorded load did not have.
"""

from __future__ import annotations

import math
import re
from calendar import timegm
from datetime import date
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

from torr.errors import FileError, UsageError, require
from torr.messages.say import say
from torr.model.outside_file import lines_of
from torr.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Reader = Callable[[str], int | None]

MOST_TIMES = 20_000_000
"""The most times of a replay, which are held in memory: an hour at 5,000 requests a second."""

_NAMES_OF_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"
_MONTHS = {name: number for number, name in enumerate(_NAMES_OF_MONTHS.split(), start=1)}
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)", re.ASCII)
# The most digits of seconds.
_MOST_DIGITS = 18
_ISO_LENGTH = 19
_FRACTION_AND_ZONE = re.compile(r"(?:[.,](\d+))? ?(Z|[+-]\d\d:?\d\d)?", re.ASCII)
_ACCESS = re.compile(
    r"\[(\d\d)/([A-Z][a-z]{2})/(\d{4}):(\d\d):(\d\d):(\d\d) ([+-]\d{4})\]", re.ASCII
)
_HINT = say("write seconds (0.25), 2026-01-31T12:00:00Z at the start, or a line of an access log")


def read_times(path: Path, speed: float = 1.0) -> list[int]:
    """Return when each request is due, in ns from the first, ascending; raise FileError.

    `speed` 2 halves all times.
    """
    times = _times(path)
    if not times:
        raise UsageError(say("{path}: there is no time in it", path=path), _HINT)
    times.sort()
    if not any(time % SECOND_NS for time in times):
        times = _spread(times)
    first = times[0]
    # The last time is the largest: if it is finite, all are.
    is_short = math.isfinite((times[-1] - first) / speed)
    require(
        is_short,
        say("{path}: its times lie too far apart at this speed", path=path),
        say("use a higher --speed"),
    )
    if speed == 1:
        return [time - first for time in times]
    return [round((time - first) / speed) for time in times]


def _times(path: Path) -> list[int]:
    times: list[int] = []
    read: Reader | None = None
    try:
        for number, line in enumerate(lines_of(path, errors="replace"), start=1):
            read = read or _reader_of(line)
            time = None if read is None else read(line)
            if time is None:
                if _is_empty(line):
                    continue
                short = line.strip()[:40]
                raise FileError(path, number, say("{short!r} has no time", short=short), _HINT)
            if len(times) == MOST_TIMES:
                raise FileError(
                    path,
                    number,
                    say("there are more than {most_times:,} times", most_times=MOST_TIMES),
                )
            times.append(time)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    return times


def _is_empty(line: str) -> bool:
    return line.isspace() or line.startswith("#")


def _reader_of(line: str) -> Reader | None:
    """Return the reader for a file with this first line; None for an empty line or a comment."""
    if _is_empty(line):
        return None
    if seconds_ns(line) is not None:
        return seconds_ns
    return iso_ns if _ISO.match(line) else _access_time


def seconds_ns(line: str) -> int | None:
    """Return the nanoseconds of a decimal number of seconds, exactly, which a float is not."""
    whole, _, fraction = line.strip().partition(".")
    if len(whole) > _MOST_DIGITS:
        return None
    digits = whole + f"{fraction:0<9.9}"
    return int(digits) if whole and digits.isdecimal() and digits.isascii() else None


def nearest_ns(seconds: float) -> int:
    """Return the nanoseconds of a number of seconds as exactly as the number has them."""
    whole = int(seconds)
    return whole * SECOND_NS + round((seconds - whole) * SECOND_NS)


def iso_ns(line: str) -> int | None:
    """Return the nanoseconds since 1970 of the ISO 8601 time that a text begins with, or None."""
    second = _second_of_iso(line[:_ISO_LENGTH])
    fraction_and_zone = _FRACTION_AND_ZONE.match(line, _ISO_LENGTH)
    if second is None or fraction_and_zone is None:
        return None
    fraction, zone = fraction_and_zone.groups()
    time = (second - _zone(zone)) * SECOND_NS
    return time + int(f"{fraction:0<9.9}") if fraction else time


# Many lines share a second.
@lru_cache
def _second_of_iso(text: str) -> int | None:
    match = _ISO.fullmatch(text)
    return None if match is None else _epoch(*map(int, match.groups()))


def _access_time(line: str) -> int | None:
    start = line.find("[")
    return _second_of_access(line[start : start + 28])


@lru_cache
def _second_of_access(text: str) -> int | None:
    match = _ACCESS.fullmatch(text)
    if match is None or match[2] not in _MONTHS:
        return None
    day, year, hour, minute, second = (int(match[i]) for i in (1, 3, 4, 5, 6))
    time = _epoch(year, _MONTHS[match[2]], day, hour, minute, second)
    return None if time is None else (time - _zone(match[7])) * SECOND_NS


def _epoch(*parts: int) -> int | None:
    """Return the seconds since 1970; None for a day that does not exist."""
    try:
        date(*parts[:3])
    except ValueError:
        return None
    return timegm(parts)


def _zone(text: str | None) -> int:
    """Return the seconds that a zone is ahead of UTC, 0 without a zone."""
    if text is None or text == "Z":
        return 0
    seconds = int(text[1:3]) * 3600 + int(text[-2:]) * 60
    return -seconds if text[0] == "-" else seconds


def _spread(times: list[int]) -> list[int]:
    """Return the times, those of the same second at equal distances within it."""
    spread: list[int] = []
    for second, same in groupby(times):
        count = sum(1 for _ in same)
        spread += [second + number * SECOND_NS // count for number in range(count)]
    return spread
