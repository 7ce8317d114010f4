"""Names of functions in tests that run again: plugins may make several attempts at a test.

torr keeps the measurements of all attempts, and compares the last one, by the name of the first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torr.results.level import Level

_ATTEMPT = re.compile(r"(?P<name>.*) \(attempt (?P<number>[0-9]+)\)", re.DOTALL)


def name_of_attempt(name: str, number: int) -> str:
    """Return the name of a function in an attempt: `test_put (attempt 2)`."""
    return name if number == 1 else f"{name} (attempt {number})"


def last_attempts(levels: Iterable[Level]) -> list[tuple[Level, str]]:
    """Return the levels of last attempts under their first names, each with its own name."""
    named = [(level, *_name_and_number(level.candidate or "")) for level in levels]
    last: dict[tuple[str, str], int] = {}
    for level, name, number in named:
        key = (name, str(level.factors))
        last[key] = max(number, last.get(key, number))
    return [
        (msgspec.structs.replace(level, candidate=name), level.candidate or "")
        for level, name, number in named
        if number == last[name, str(level.factors)]
    ]


def _name_and_number(candidate: str) -> tuple[str, int]:
    found = _ATTEMPT.fullmatch(candidate)
    return (candidate, 1) if found is None else (found["name"], int(found["number"]))
