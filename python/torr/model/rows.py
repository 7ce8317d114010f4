"""Rows of values for templates, such as prompts, that are part of the plan instead of a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from torr.errors import require

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rows:
    """Columns and rows of texts; with `is_unique` each request differs although rows repeat."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    is_unique: bool = False

    def __post_init__(self) -> None:
        """Check that each row has a value for each column."""
        fits = all(len(row) == len(self.columns) for row in self.rows)
        require(bool(self.columns) and fits, "a row has not as many values as there are columns")

    def as_json(self) -> Json:
        """Return the `data` of the engine's plan."""
        return {"columns": list(self.columns), "rows": [list(row) for row in self.rows]}

    def redacted(self) -> Rows:
        """Return the columns alone: rows may be many, and may be private."""
        return replace(self, rows=())
