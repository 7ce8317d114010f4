"""Names of functions: the test's file without its directories, its name, its parameters.

Directories are left out while no other file of the result has the same name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from torr.results.base import factors_key
from torr.units import show_setting

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torr.results.base import Factors
    from torr.results.result import RunResult


class HasCandidate(Protocol):
    """A part of a result that is about one function: a level, a verdict, a profile."""

    @property
    def candidate(self) -> str | None:
        """The function."""

    @property
    def factors(self) -> Factors:
        """Its parameters."""


NameOf = Callable[[HasCandidate], str]


def key_of(part: HasCandidate) -> tuple[str, str]:
    """Return what tells a function from every other one: its whole name and its parameters."""
    return part.candidate or "", factors_key(part.factors)


def names(result: RunResult) -> NameOf:
    """Return what names anything of a result that has a candidate and factors."""
    return names_of(parts_of(result))


def names_of(parts: Iterable[HasCandidate]) -> NameOf:
    """Return what names these parts of a result."""
    short = shortened(parts)

    def named(part: HasCandidate) -> str:
        setting = show_setting(part.factors)
        name = short(part.candidate or "")
        return f"{name} [{setting}]" if setting else name

    return named


def shortened(parts: Iterable[HasCandidate]) -> Callable[[str], str]:
    """Return what shortens the names of their candidates, and leaves all else as it is."""
    paths = {path for part in parts if (path := _path(part.candidate or ""))}
    files = [_file(path) for path in paths]

    def short(name: str) -> str:
        path = _path(name)
        is_alone = files.count(_file(path)) == 1
        return _file(path) + name[len(path) :] if path in paths and is_alone else name

    return short


def parts_of(result: RunResult) -> list[HasCandidate]:
    """Return everything of a result that is about one function."""
    return [
        *result.levels,
        *result.profiles,
        *result.budgets,
        *result.leaks,
        *result.verdicts,
        *result.fail_if,
    ]


def _path(name: str) -> str:
    """Return the text before the test's name: nothing where there is no such name."""
    path, found, _ = name.partition("::")
    return path if found else ""


def _file(path: str) -> str:
    return path.rpartition("/")[2]
