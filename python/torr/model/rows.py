"""Rows of values for templates that are given with the plan, not in a file: prompts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from torr.errors import require

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rows:
    """Columns and rows of texts; `is_unique` when what is sent differs each time all the same."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    is_unique: bool = False

    def __post_init__(self) -> None:
        """Check that they make a table."""
        fits = all(len(row) == len(self.columns) for row in self.rows)
        require(bool(self.columns) and fits, "a row has not as many values as there are columns")

    def as_json(self) -> Json:
        """The contract's `data`."""
        return {"columns": list(self.columns), "rows": [list(row) for row in self.rows]}

    def redacted(self) -> Rows:
        """The same without the rows, of which there may be many, and which may be private."""
        return replace(self, rows=())
