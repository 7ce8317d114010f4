"""Options of pytest against what there is: names, changes, kept runs."""

from __future__ import annotations

import pytest

from torr.errors import TorrError, require
from torr.plugin.keeping import changes_of, run_before
from torr.store.rundir import check_name


def check(config: pytest.Config) -> None:
    """Raise pytest's UsageError that says what is wrong, and what to try."""
    try:
        rounds = config.getoption("torr_rounds")
        require(
            rounds is None or rounds > 0, f"--torr-rounds {rounds}: there is at least one round"
        )
        name = config.getoption("torr_save")
        if name is not None:
            check_name(name, "--torr-save")
        changes_of(config)
        run_before(config)
    except TorrError as error:
        hint = f" ({error.hint})" if error.hint else ""
        raise pytest.UsageError(f"torr: {error.message}{hint}") from error
