"""Budgets as tests are marked with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from torr.errors import UsageError
from torr.micro.budget import Budget
from torr.plugin import MARK

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def budgets_of(item: pytest.Item) -> tuple[Budget, ...]:
    """Return the budgets of a test; the closest marker counts alone."""
    mark = item.get_closest_marker(MARK)
    if mark is None:
        return ()
    if mark.args:
        raise UsageError(f"budget{mark.args!r}: limits have names", 'write ops=">10k/s"')
    return Budget.all_of(mark.kwargs)


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
