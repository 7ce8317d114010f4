"""When requests came, read from a file: one time a line, to be replayed.

A line is a number of seconds (from anywhere, or since 1970), begins with an ISO 8601 time, or is of
an access log with `[10/Oct/2000:13:55:36 -0700]`. The first line says which; all lines are alike.
Where no time is finer than a second, those of the same second are spread evenly within it: else
each second would begin with a burst that nobody sent.
"""

from __future__ import annotations

import math
import re
from calendar import timegm
from datetime import date
from itertools import groupby
from typing import TYPE_CHECKING

from torr.errors import FileError, UsageError, require
from torr.model.outside_file import lines_of
from torr.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Reader = Callable[[str], int | None]

MOST_TIMES = 20_000_000
"""Of a replay: an hour at 5,000 requests a second; each is held in memory until it is sent."""

_MONTHS = {
    name: number
    for number, name in enumerate(
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), 1
    )
}
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)", re.ASCII)
# Of seconds: more than 10^18 are no time that anything happened at.
_MOST_DIGITS = 18
_ISO_LENGTH = 19
_REST = re.compile(r"(?:[.,](\d+))? ?(Z|[+-]\d\d:?\d\d)?", re.ASCII)
_ACCESS = re.compile(
    r"\[(\d\d)/([A-Z][a-z]{2})/(\d{4}):(\d\d):(\d\d):(\d\d) ([+-]\d{4})\]", re.ASCII
)
_HINT = "write seconds (0.25), 2026-01-31T12:00:00Z at the start, or a line of an access log"


def read_times(path: Path, speed: float = 1.0) -> list[int]:
    """When each request is due, in ns from the first, ascending; raises FileError.

    At `speed` 2 they come in half of the time.
    """
    times = _times(path)
    if not times:
        raise UsageError(f"{path}: there is no time in it", _HINT)
    times.sort()
    if not any(time % SECOND_NS for time in times):
        times = _spread(times)
    first = times[0]
    # Where the last one is a number, so are all before it.
    is_short = math.isfinite((times[-1] - first) / speed)
    require(is_short, f"{path}: its times lie too far apart at this speed", "use a higher --speed")
    if speed == 1:
        return [time - first for time in times]
    return [round((time - first) / speed) for time in times]


def _times(path: Path) -> list[int]:
    found: list[int] = []
    read: Reader | None = None
    try:
        for number, line in enumerate(lines_of(path, errors="replace"), start=1):
            read = read or _reader_of(line)
            time = None if read is None else read(line)
            if time is None:
                if _says_nothing(line):
                    continue
                short = line.strip()[:40]
                raise FileError(path, number, f"{short!r} has no time", _HINT)
            if len(found) == MOST_TIMES:
                raise FileError(path, number, f"there are more than {MOST_TIMES:,} times")
            found.append(time)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    return found


def _says_nothing(line: str) -> bool:
    return line.isspace() or line.startswith("#")


def _reader_of(line: str) -> Reader | None:
    """How a file with this first line is read; None for a line that says nothing."""
    if _says_nothing(line):
        return None
    if _number(line) is not None:
        return _number
    return _of_iso() if _ISO.match(line) else _of_access_log()


def _number(line: str) -> int | None:
    """Digits, and a fraction; exact, which a float since 1970 is not."""
    whole, _, fraction = line.strip().partition(".")
    if len(whole) > _MOST_DIGITS:
        return None
    digits = whole + f"{fraction:0<9.9}"
    return int(digits) if whole and digits.isdecimal() and digits.isascii() else None


def _of_iso() -> Reader:
    """A reader that works out each second once."""
    seconds: dict[str, int | None] = {}

    def read(line: str) -> int | None:
        text = line[:_ISO_LENGTH]
        if text not in seconds:
            found = _ISO.fullmatch(text)
            seconds[text] = None if found is None else _epoch(*map(int, found.groups()))
        second, rest = seconds[text], _REST.match(line, _ISO_LENGTH)
        if second is None or rest is None:
            return None
        fraction, zone = rest.groups()
        time = (second - _zone(zone)) * SECOND_NS
        return time + int(f"{fraction:0<9.9}") if fraction else time

    return read


def _of_access_log() -> Reader:
    """A reader that works out each second once: many lines share it."""
    seconds: dict[str, int | None] = {}

    def read(line: str) -> int | None:
        start = line.find("[")
        text = line[start : start + 28]
        if text not in seconds:
            seconds[text] = _access_time(text)
        return seconds[text]

    return read


def _access_time(text: str) -> int | None:
    found = _ACCESS.fullmatch(text)
    if found is None or found[2] not in _MONTHS:
        return None
    day, year, hour, minute, second = (int(found[i]) for i in (1, 3, 4, 5, 6))
    time = _epoch(year, _MONTHS[found[2]], day, hour, minute, second)
    return None if time is None else (time - _zone(found[7])) * SECOND_NS


def _epoch(*parts: int) -> int | None:
    """Seconds since 1970 of year, month, day, hour, minute and second; None for no such day."""
    try:
        date(*parts[:3])
    except ValueError:
        return None
    return timegm(parts)


def _zone(text: str | None) -> int:
    """Seconds that a zone is ahead of UTC; without one it does not matter."""
    if text is None or text == "Z":
        return 0
    seconds = int(text[1:3]) * 3600 + int(text[-2:]) * 60
    return -seconds if text[0] == "-" else seconds


def _spread(times: list[int]) -> list[int]:
    """Times of the same second at equal distances within it."""
    spread: list[int] = []
    for second, same in groupby(times):
        count = sum(1 for _ in same)
        spread += [second + number * SECOND_NS // count for number in range(count)]
    return spread
