"""Five functions as programs have them, from some 100 ns to some 100 µs; nothing in them is torr's.

Every tool imports them from here, each in its own Python.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass

_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})")
_ORDER = {
    "id": 4711,
    "customer": {"name": "Ada", "email": "ada@example.org", "is_new": False},
    "items": [{"sku": f"part-{number}", "price": number * 1.25} for number in range(5)],
    "note": None,
}
_NUMBERS = random.Random(1).sample(range(1_000_000), 1_000)  # noqa: S311 - the same for all
_PAGE = bytes(range(256)) * 16


@dataclass(frozen=True)
class Timed:
    """A function, and how many calls of it make a round of some milliseconds."""

    call: Callable[[], object]
    count: int


def _format() -> object:
    return "{} of {}".format("two", "three")


def _match() -> object:
    return _DATE.match("2026-11-22T19:30")


def _sha256() -> object:
    return hashlib.sha256(_PAGE).digest()


def _dumps() -> object:
    return json.dumps(_ORDER)


def _sorted() -> object:
    return sorted(_NUMBERS)


FUNCTIONS = {
    "str.format": Timed(_format, 10_000),
    "re.match": Timed(_match, 10_000),
    "sha256 of 4 KiB": Timed(_sha256, 1_000),
    "json.dumps": Timed(_dumps, 500),
    "sorted of 1,000": Timed(_sorted, 100),
}
