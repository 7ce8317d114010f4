"""Durations, sizes, rates and percentages: text that people write, numbers that torr uses.

`parse_*` reads flags and files and raises UsageError with a hint; `format_*` writes text that
parses back to the same number; `show_*` rounds for people, with thousands separators.
Durations are integer nanoseconds, sizes bytes, rates per second, percentages 0–100.
Nothing is guessed: a duration without a unit is an error, not seconds.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.messages.say import say

if TYPE_CHECKING:
    from collections.abc import Mapping

SECOND_NS = 1_000_000_000
LONGEST_NS = 87_600 * 3600 * SECOND_NS
"""Ten years: some of them together still fit into the engine's 64 bits."""

_NUMBER = re.compile(r"([+-]?)(\d+(?:\.\d*)?|\.\d+)\s*(\S*)", re.ASCII)

_NS_PER_UNIT = {
    "h": 3_600_000_000_000,
    "m": 60_000_000_000,
    "s": 1_000_000_000,
    "ms": 1_000_000,
    "us": 1_000,
    "ns": 1,
}
_BYTES_PER_UNIT = {
    "b": 1,
    "kb": 1000,
    "mb": 1000**2,
    "gb": 1000**3,
    "kib": 1024,
    "mib": 1024**2,
    "gib": 1024**3,
}
_PER_SUFFIX = {"": 1, "k": 1000, "m": 1000**2}


def parse_duration(text: str) -> int:
    """Return the nanoseconds of a duration such as `10s`, `1.5ms`, `2m` or `500us`."""
    number, unit = _split(text, "duration", "write it as 10s, 1.5ms or 2m")
    unit = unit.replace("µ", "u").replace("μ", "u")
    if not unit:
        raise UsageError(
            say("the duration {text!r} has no unit", text=text.strip()),
            say("write {text}s for seconds; units are ns, us, ms, s, m, h", text=text.strip()),
        )
    if unit not in _NS_PER_UNIT:
        raise UsageError(
            say("the duration {text!r} has an unknown unit {unit!r}", text=text.strip(), unit=unit),
            say("units are ns, us, ms, s, m, h"),
        )
    nanoseconds = number * _NS_PER_UNIT[unit]
    if nanoseconds != int(nanoseconds):
        raise UsageError(
            say("the duration {text!r} is not a whole number of nanoseconds", text=text.strip()),
            say("nanoseconds are the finest unit"),
        )
    if nanoseconds > LONGEST_NS:
        longest = format_duration(LONGEST_NS)
        raise UsageError(
            say("the duration {text!r} is too long", text=text.strip()),
            say("the maximum is {longest}, ten years", longest=longest),
        )
    return int(nanoseconds)


def format_duration(nanoseconds: int) -> str:
    """Write nanoseconds exactly, in the largest unit that leaves at least 1: `1.5ms`, `90s`."""
    if nanoseconds == 0:
        return "0s"
    for unit in ("h", "m"):
        if nanoseconds % _NS_PER_UNIT[unit] == 0:
            return f"{nanoseconds // _NS_PER_UNIT[unit]}{unit}"
    unit = next(u for u in ("s", "ms", "us", "ns") if nanoseconds >= _NS_PER_UNIT[u])
    return f"{_plain(Decimal(nanoseconds) / _NS_PER_UNIT[unit])}{unit}"


def parse_size(text: str) -> int:
    """Return the bytes of a size such as `512`, `64KiB` (× 1024) or `64kB` (× 1000)."""
    number, unit = _split(text, "size", "write it as 512, 64KiB or 64kB")
    factor = _BYTES_PER_UNIT.get(unit.lower() or "b")
    if factor is None:
        raise UsageError(
            say("the size {text!r} has an unknown unit {unit!r}", text=text.strip(), unit=unit),
            say("units are B, kB, MB, GB (powers of 1000) and KiB, MiB, GiB (powers of 1024)"),
        )
    size = number * factor
    if size != int(size):
        raise UsageError(say("the size {text!r} is not a whole number of bytes", text=text.strip()))
    return int(size)


def format_size(size: int) -> str:
    """Write bytes exactly, in the largest unit of 1024 that divides them: `64KiB`, `1000B`."""
    for unit in ("GiB", "MiB", "KiB"):
        factor = _BYTES_PER_UNIT[unit.lower()]
        if size and size % factor == 0:
            return f"{size // factor}{unit}"
    return f"{size}B"


def parse_rate(text: str) -> float:
    """Return the number per second of a rate such as `500`, `10k`, `1.5M` or `200/s`."""
    number, unit = _split(text, "rate", "write it as 500, 10k or 1.5M (per second)")
    factor = _PER_SUFFIX.get(unit.lower().removesuffix("/s"))
    if factor is None:
        raise UsageError(
            say("the rate {text!r} has an unknown suffix {unit!r}", text=text.strip(), unit=unit),
            say("rates are per second: 500, 10k, 1.5M, 200/s"),
        )
    return float(number * factor)


def parse_count(text: str) -> int:
    """Return the whole number of a count such as `500`, `10k` or `1.5M`."""
    digits = text.strip().replace("_", "")
    found = re.fullmatch(r"([+-]?\d+(?:\.\d+)?)([kM]?)", digits, re.ASCII | re.IGNORECASE)
    number = Decimal(found[1]) * _PER_SUFFIX[found[2].lower()] if found else None
    if number is None or number != int(number):
        raise UsageError(
            say("{text!r} is not a whole number", text=text), say("write 500, 10k or 1M")
        )
    return int(number)


def format_rate(per_second: float) -> str:
    """Write a rate exactly, with k or M where it is shorter: `10k`, `1.5M`, `500`."""
    exact = Decimal(repr(per_second))
    spellings = [
        f"{_plain(exact / factor)}{'M' if suffix == 'm' else suffix}"
        for suffix, factor in _PER_SUFFIX.items()
    ]
    return min(spellings, key=len)


def parse_percent(text: str) -> float:
    """Return the number in 0–100 of a percentage such as `99.9%`."""
    number, unit = _split(text, "percentage", "write it as 99.9%")
    if unit != "%":
        raise UsageError(
            say("the percentage {text!r} has no % sign", text=text.strip()),
            say("write {number}", number=_percent_hint(number)),
        )
    if number > 100:
        raise UsageError(say("the percentage {text!r} is over 100 %", text=text.strip()))
    return float(number)


def _percent_hint(number: Decimal) -> str:
    """Return what a number may mean: 0.999 is also the share of 99.9 %."""
    share = f"{_plain(100 * number)}% for a share of {_plain(number)}, or " if number <= 1 else ""
    return f"{share}{_plain(number)}%"


def format_percent(percent: float) -> str:
    """Write a percentage exactly: `99.9%`."""
    return f"{_plain(Decimal(repr(percent)))}%"


def show_ms(milliseconds: float | None) -> str:
    """Write milliseconds for people, three digits: `420 ns`, `0.420 ms`, `1,780 ms`, `12.3 s`."""
    if milliseconds is None:
        return "–"
    if 0 < milliseconds < 1e-3:
        return f"{_three_digits(milliseconds * 1e6)} ns"
    if milliseconds >= 10_000:
        return f"{milliseconds / 1000:,.1f} s"
    return f"{_three_digits(milliseconds)} ms"


def show_time(milliseconds: float | None) -> str:
    """Write a time for people in the unit that suits it: `38.0 ns`, `1.24 µs`, `0.420 ms`."""
    if milliseconds is None or milliseconds < 1e-3 or milliseconds >= 0.1:
        return show_ms(milliseconds)
    return f"{_three_digits(milliseconds * 1e3)} µs"


def show_rate(per_second: float | None) -> str:
    """Write a rate for people: `47,812`, `21.5`, `0.4`."""
    if per_second is None:
        return "–"
    return f"{per_second:,.0f}" if per_second >= 100 else _bare(_three_digits(per_second))


def show_percent(percent: float | None) -> str:
    """Write a percentage for people, never rounded up to 100: `100 %`, `99.98 %`, `>99.99 %`."""
    if percent is None:
        return "–"
    if 99.995 <= percent < 100:
        return ">99.99 %"
    if 0 < percent < 0.005:
        return "<0.01 %"
    return f"{_plain(Decimal(f'{percent:.2f}'))} %"


def show_factor(factor: float, digits: int = 2) -> str:
    """Write how many times as much for people: `0.57`, `28.56`, of a small one what counts."""
    if 0 < factor < 10 ** (1 - digits):
        return _plain(Decimal(f"{factor:.{digits - 1}e}"))
    return f"{factor:.{digits}f}"


def show_size(size: float | None) -> str:
    """Write bytes for people, in powers of 1024: `512 B`, `1.5 MiB`."""
    if size is None:
        return "–"
    for unit in ("GiB", "MiB", "KiB"):
        factor = _BYTES_PER_UNIT[unit.lower()]
        if size >= factor:
            return f"{_bare(_three_digits(size / factor))} {unit}"
    return f"{size:.0f} B"


def show_setting(factors: Mapping[str, object]) -> str:
    """Write the factors of a cell: `processes 4, connections 500`; nothing where there are none."""
    return ", ".join(f"{name} {show_value(value)}" for name, value in factors.items())


def show_value(value: object) -> str:
    """Write the value of a factor as TOML has it: `4`, `on`, `true`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _split(text: str, what: str, hint: str) -> tuple[Decimal, str]:
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        raise UsageError(say("{text!r} is not a {what}", text=text.strip(), what=what), hint)
    sign, number, unit = found.groups()
    if sign == "-":
        raise UsageError(say("the {what} {text!r} is negative", what=what, text=text.strip()), hint)
    return Decimal(number), unit


def _plain(number: Decimal) -> str:
    return _bare(f"{number:f}")


def _bare(text: str) -> str:
    """A number without the zeros that say nothing."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def _three_digits(number: float) -> str:
    for limit, digits in ((0.995, 3), (9.995, 2), (99.95, 1)):
        if number < limit:
            return f"{number:.{digits}f}" if number else "0"
    return f"{number:,.0f}"
