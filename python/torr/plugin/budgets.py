"""Read the budgets of tests from their markers, and fail tests that do not meet them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from torr.errors import TorrError, UsageError
from torr.report.data.function_names import names_of
from torr.report.tables import function_tables
from torr.verdicts.budget import Budget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import NoReturn

    from torr.report.tables.table import Table
    from torr.results.verdict import Verdict

NOT_SHOWN = (
    "measure more operations (n=) or more rounds (--torr-rounds), or pass it with"
    " --torr-allow-not-shown"
)
"""What to do about a budget or a limit that is not shown."""


def budgets_of(item: pytest.Item) -> tuple[Budget, ...]:
    """Return the budgets of a test, of its closest marker only."""
    mark = item.get_closest_marker("budget")
    if mark is None:
        return ()
    if mark.args:
        raise UsageError(f"budget{mark.args!r}: limits need names", 'write ops=">10k/s"')
    return Budget.all_of(mark.kwargs)


def failure_text(verdicts: Sequence[Verdict], allows_not_shown: bool) -> str | None:
    """Return why a test does not meet its budgets; None if it does."""
    parts = []
    missed = _table([verdict for verdict in verdicts if verdict.word == "broken"])
    if missed is not None:
        rows = (
            f"{name}: {of}, measured {value} ({span})" for name, of, value, span, _ in missed.rows
        )
        parts += [f"budget missed: {_conditions(missed)}", *rows]
    unshown = _table([verdict for verdict in verdicts if verdict.word == "not shown"])
    if unshown is not None and not allows_not_shown:
        rows = (f"{name}: {of}: {word}" for name, of, _, _, word in unshown.rows)
        parts += [f"budget not shown: {_conditions(unshown)}", *rows, f"hint: {NOT_SHOWN}"]
    return "\n".join(parts) or None


def _table(verdicts: Sequence[Verdict]) -> Table | None:
    return function_tables.budget_table(verdicts, names_of(verdicts))


def _conditions(table: Table) -> str:
    """Return the budgets of a table for the summary line of pytest, each once."""
    return ", ".join(dict.fromkeys(str(row[1]) for row in table.rows))


def fail_unmeasured() -> NoReturn:
    """Fail a test that has a budget, but measured nothing."""
    pytest.fail("the test has a budget, but no fixture of torr measured anything", pytrace=False)


def check(items: Sequence[pytest.Item]) -> None:
    """Read the budgets of tests; raise pytest's UsageError with file and line."""
    for item in items:
        path, line, _ = item.location
        with pytest_errors(f"{path}:{(line or 0) + 1}"):
            budgets_of(item)


@contextmanager
def pytest_errors(origin: str) -> Iterator[None]:
    """Convert errors of torr to pytest's UsageError, with their origin and hint."""
    try:
        yield
    except TorrError as error:
        hint = f" ({error.hint})" if error.hint else ""
        raise pytest.UsageError(f"{origin}: {error.message}{hint}") from error
