"""Rows of values for templates, such as prompts, that are part of the plan instead of a file."""

from __future__ import annotations

from dataclasses import dataclass, replace

from torr.errors import require
from torr.messages.say import say
from torr.model.json import PlanPart


@dataclass(frozen=True, slots=True)
class Rows(PlanPart):
    """Columns and rows of texts; with `is_unique` each request differs although rows repeat.

    `batch` is the number of texts of a row that a request has as a batch, 0 without batches.
    `tokens` are the planned tokens of the first prompt of each row, if torr made them up, and
    `output_tokens` those of its output, if rows differ in them. `distinct` is how many rows have
    prompts of their own, where the others repeat these; 0 if all have.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    is_unique: bool = False
    batch: int = 0
    tokens: tuple[int, ...] = ()
    output_tokens: tuple[int, ...] = ()
    distinct: int = 0

    MEMBERS = ("columns", "rows")

    def __post_init__(self) -> None:
        """Check that each row has a value for each column."""
        fits = all(len(row) == len(self.columns) for row in self.rows)
        require(
            bool(self.columns) and fits, say("a row has not as many values as there are columns")
        )

    def rotated(self, count: int) -> Rows:
        """Return the rows in the same order, from the one behind `count` others."""
        at = count % len(self.rows)
        return replace(
            self,
            rows=self.rows[at:] + self.rows[:at],
            tokens=self.tokens[at:] + self.tokens[:at],
            output_tokens=self.output_tokens[at:] + self.output_tokens[:at],
        )

    def redacted(self) -> Rows:
        """Return the columns alone: rows may be many, and may be private."""
        return replace(self, rows=(), tokens=(), output_tokens=())
