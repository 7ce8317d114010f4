"""Functions that leave nothing behind, or that stop doing so: watched for leaks, none may be found.

`tests/component/micro` watches them too.
"""

from __future__ import annotations

import copy
import datetime as dt
import functools
import importlib
import itertools
import json
import logging
import mmap
import random
import re
import string
import sys
import tempfile
import threading
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable

_COUNTER = itertools.count()
_PAGES = 100_000
_RING: deque[int] = deque(maxlen=100)
_FILLING: OrderedDict[int, list[int]] = OrderedDict()
# Of its own: whoever listens to all others, as pytest does, keeps what they say.
_LOG = logging.Logger("clean")  # noqa: LOG001
_LOG.addHandler(logging.NullHandler())


class Node:
    """One of two that may know each other."""

    def __init__(self) -> None:
        self.other: Node | None = None


_SEEN: weakref.WeakSet[Node] = weakref.WeakSet()


@functools.lru_cache(maxsize=64)
def _remembered(number: int) -> int:
    return number * 2


@functools.cache
def _all_remembered(number: int) -> int:
    return number * 2


def _raises() -> str:
    try:
        int("x")
    except ValueError as error:
        return str(error)
    return ""


def _closes_over() -> int:
    number = next(_COUNTER)

    def inner() -> int:
        return number

    return inner()


def _circle() -> None:
    one, two = Node(), Node()
    one.other, two.other = two, one


def _fills() -> None:
    number = next(_COUNTER)
    _FILLING[number] = [number]
    if len(_FILLING) > 500:
        _FILLING.popitem(last=False)


def _thread() -> None:
    thread = threading.Thread(target=_circle)
    thread.start()
    thread.join()


@functools.cache
def _mapped() -> mmap.mmap:
    """A file of holes, of which each page comes to memory when it is first looked at."""
    with tempfile.TemporaryFile() as file:
        file.truncate(_PAGES * mmap.PAGESIZE)
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _page() -> None:
    _mapped()[next(_COUNTER) % _PAGES * mmap.PAGESIZE]


CLEAN: dict[str, Callable[[], object]] = {
    "nothing": lambda: None,
    "counts": lambda: next(_COUNTER),
    "sorts": lambda: sorted(range(50, 0, -1)),
    "dictionaries": lambda: dict.fromkeys(range(20)),
    "joins": lambda: "".join(map(str, range(30))),
    "formats": lambda: f"{next(_COUNTER):>10} {3.14159:.2f}",
    "reads json": lambda: json.loads('{"a": [1, 2, {"b": null}]}'),
    "writes json": lambda: json.dumps({"a": list(range(10))}),
    "matches": lambda: re.findall(r"(\w+)-(\d+)", "abc-123"),
    "many patterns": lambda: re.compile(f"a{next(_COUNTER) % 1000}b"),
    "random": random.random,
    "draws": lambda: random.sample(string.ascii_letters, 5),
    "a ring": lambda: _RING.append(next(_COUNTER)),
    "logs": lambda: _LOG.info("number %d", next(_COUNTER)),
    "a cache of few": lambda: _remembered(next(_COUNTER) % 200),
    "a cache that fills": lambda: _all_remembered(next(_COUNTER) % 200),
    "a cache that fills, then forgets": _fills,
    "raises": _raises,
    "closes over": _closes_over,
    "generators": lambda: sum(x * x for x in range(20)),
    "classes": lambda: Node().other,
    "circles": _circle,
    "splits": lambda: ["a", "b", "c", "d"],
    "interns": lambda: sys.intern(f"name {next(_COUNTER) % 1000}"),
    "weak references": lambda: _SEEN.add(Node()),
    "imports": lambda: importlib.import_module("colorsys"),
    "copies": lambda: copy.deepcopy({"a": [1, {"b": 2}]}),
    "times": lambda: dt.datetime.now(dt.timezone.utc).isoformat(),
    "large texts": lambda: "a" * 5_000,
    "threads that end": _thread,
    "reads of a map": _page,
}
