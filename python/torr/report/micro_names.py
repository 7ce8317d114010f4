"""Functions as people know them: the test's file without its directories, its name, its parameters.

Directories are left out while no other file of the result has the same name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from torr.units import show_setting

Result = Mapping[str, Any]
Named = Callable[[Mapping[str, Any]], str]

_PARTS = ("levels", "budgets", "leaks", "verdicts", "fail_if", "profiles")


def key_of(each: Mapping[str, Any]) -> tuple[str, str]:
    """Return what tells a function from every other one: its whole name and its parameters."""
    return each["candidate"], json.dumps(each.get("factors") or {}, sort_keys=True)


def names(result: Result) -> Named:
    """Return what names anything of a result that has a candidate and factors."""
    short = shortened(result)

    def named(each: Mapping[str, Any]) -> str:
        setting = show_setting(each.get("factors") or {})
        name = short(each["candidate"])
        return f"{name} [{setting}]" if setting else name

    return named


def shortened(result: Result) -> Callable[[str], str]:
    """Return what shortens names of candidates of a result, and leaves all else as it is."""
    paths = {path for name in _candidates(result) if (path := _path(name))}
    files = [_file(path) for path in paths]

    def short(name: str) -> str:
        path = _path(name)
        is_alone = files.count(_file(path)) == 1
        return _file(path) + name[len(path) :] if path in paths and is_alone else name

    return short


def _candidates(result: Result) -> Iterator[str]:
    for part in _PARTS:
        for each in result.get(part) or ():
            yield each.get("candidate") or ""


def _path(name: str) -> str:
    """What stands before the test's name: nothing where there is no such name."""
    path, found, _ = name.partition("::")
    return path if found else ""


def _file(path: str) -> str:
    return path.rpartition("/")[2]
