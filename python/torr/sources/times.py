"""When requests came, read from a file: one time a line, to be replayed.

A line is a number of seconds (from anywhere, or since 1970), begins with an ISO 8601 time, or is of
an access log with `[10/Oct/2000:13:55:36 -0700]`. The first line says which; all lines are alike.
Where no time is finer than a second, those of the same second are spread evenly within it: else
each second would begin with a burst that nobody sent.
"""

from __future__ import annotations

import re
from calendar import timegm
from itertools import groupby
from typing import TYPE_CHECKING

from torr.errors import FileError, UsageError
from torr.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Reader = Callable[[str], int | None]

_MONTHS = {
    name: number
    for number, name in enumerate(
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), 1
    )
}
_NUMBER = re.compile(r"(\d{1,12})(?:\.(\d*))?\s*", re.ASCII)
_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d+))? ?(Z|[+-]\d\d:?\d\d)?", re.ASCII
)
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
    if speed == 1:
        return [time - first for time in times]
    return [round((time - first) / speed) for time in times]


def _times(path: Path) -> list[int]:
    found: list[int] = []
    read: Reader | None = None
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, start=1):
                if line.isspace() or line.startswith("#"):
                    continue
                read = read or _reader(line)
                time = read(line)
                if time is None:
                    short = line.strip()[:40]
                    raise FileError(path, number, f"{short!r} has no time", _HINT)
                found.append(time)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    return found


def _epoch(*parts: int) -> int | None:
    """Seconds since 1970 of year, month, day, hour, minute and second; None for no such day."""
    try:
        return timegm(parts)
    except ValueError:
        return None


def _reader(line: str) -> Reader:
    """How a file with this first line is read."""
    if _NUMBER.fullmatch(line):
        return _number
    return _of_iso() if _ISO.match(line) else _of_access_log()


def _number(line: str) -> int | None:
    found = _NUMBER.fullmatch(line)
    return None if found is None else int(found[1]) * SECOND_NS + _fraction(found[2])


def _fraction(digits: str | None) -> int:
    return int(digits[:9].ljust(9, "0")) if digits else 0


def _of_iso() -> Reader:
    """A reader that works out each minute once."""
    minutes: dict[tuple[str, str | None], int] = {}

    def read(line: str) -> int | None:
        found = _ISO.match(line)
        if found is None:
            return None
        key = (line[:16], found[8])
        if key not in minutes:
            start = _epoch(*(int(found[i]) for i in range(1, 6)), 0)
            if start is None:
                return None
            minutes[key] = start - _zone(found[8])
        return (minutes[key] + int(found[6])) * SECOND_NS + _fraction(found[7])

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
