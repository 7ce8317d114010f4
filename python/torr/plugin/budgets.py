"""Budgets as tests are marked with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from torr.errors import UsageError
from torr.report.data.micro_names import names_of
from torr.report.tables import micro
from torr.verdicts.budget import Budget

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from torr.report.tables.cells import Table
    from torr.results.verdict import Verdict

NOT_SHOWN = "measure more operations or --torr-rounds, or pass it with --torr-allow-not-shown"
"""What to do about a budget or a limit that is not shown."""


def budgets_of(item: pytest.Item) -> tuple[Budget, ...]:
    """Return the budgets of a test; the closest marker counts alone."""
    mark = item.get_closest_marker("budget")
    if mark is None:
        return ()
    if mark.args:
        raise UsageError(f"budget{mark.args!r}: limits have names", 'write ops=">10k/s"')
    return Budget.all_of(mark.kwargs)


def why_not_met(verdicts: Sequence[Verdict], allows_not_shown: bool) -> str | None:
    """Return why a test fails by its budgets; None where it does not."""
    parts = []
    missed = _table([verdict for verdict in verdicts if verdict.word == "broken"])
    if missed is not None:
        rows = (
            f"{name}: {of}, measured {value} ({span})" for name, of, value, span, _ in missed.rows
        )
        parts += ["budget missed:", *rows]
    unshown = _table([verdict for verdict in verdicts if verdict.word == "not shown"])
    if unshown is not None and not allows_not_shown:
        rows = (f"{name}: {of}: {word}" for name, of, _, _, word in unshown.rows)
        parts += ["budget not shown:", *rows, f"hint: {NOT_SHOWN}"]
    return "\n".join(parts) or None


def _table(verdicts: Sequence[Verdict]) -> Table | None:
    return micro.budget_table(verdicts, names_of(verdicts))


def fail_unmeasured() -> NoReturn:
    """Fail a test that has a budget and nothing that it could be of."""
    pytest.fail("it has a budget, and measured nothing", pytrace=False)


def check(items: Sequence[pytest.Item]) -> None:
    """Read the budgets of tests; raises pytest's UsageError with file and line of the first."""
    for item in items:
        _check(item)


def _check(item: pytest.Item) -> None:
    try:
        budgets_of(item)
    except UsageError as error:
        path, line, _ = item.location
        hint = f" ({error.hint})" if error.hint else ""
        message = f"{path}:{(line or 0) + 1}: {error.message}{hint}"
        raise pytest.UsageError(message) from error
