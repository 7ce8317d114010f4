"""The rows of a bench, one after another: each is printed and kept before the next is measured."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol, TypeVar

from common.host import describe, stamp
from common.store import keep_none
from common.table import keep, line


class Named(Protocol):
    """A row that was not measured yet."""

    @property
    def name(self) -> str:
        """What --only chooses it by."""


Row = TypeVar("Row", bound=Named)


def parser(about: str | None) -> argparse.ArgumentParser:
    """A parser with the option that chooses rows; the first line of the text says what they are."""
    options = argparse.ArgumentParser(description=(about or "").splitlines()[0])
    options.add_argument(
        "--only",
        type=lambda text: text.split(","),
        default=[],
        help="rows by how their names begin",
    )
    return options


def chosen(rows: Sequence[Row], only: Sequence[str]) -> list[Row]:
    """The rows whose names begin so, all of them for none; exits where there is none."""
    found = [row for row in rows if not only or row.name.startswith(tuple(only))]
    if not found:
        print(f"no such row; there are: {', '.join(row.name for row in rows)}")
        sys.exit(2)
    return found


def measure(
    rows: Sequence[Row],
    measured: Callable[[Row], Any],
    effort: dict[str, Any],
    runs: Path | None,
    noun: str,
) -> int:
    """Measure rows, and return 1 where one is beyond its bar.

    The run is kept in the directory `runs`, unless there is none; the noun says what a row is.
    """
    keep_none()
    found: list[dict[str, Any]] = []
    kept = {"host": describe(), **effort, "rows": found}
    place = None if runs is None else runs / f"{stamp()}.json"
    for row in rows:
        found.append(asdict(measured(row)))
        print(line(found[-1]), flush=True)
        if place is not None:
            keep(kept, place, noun)
    if place is not None:
        print(f"\nkept: {place}")
    return 1 if any(row["within"] is False for row in found) else 0
