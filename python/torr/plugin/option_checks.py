"""Check torr's options of pytest before any test runs: names, directories, tools, stored runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from torr.errors import require
from torr.plugin import run_writer
from torr.plugin.baseline import read_baseline
from torr.plugin.budgets import pytest_errors
from torr.plugin.session import profiling

if TYPE_CHECKING:
    import pytest


def check(config: pytest.Config) -> None:
    """Raise pytest's UsageError, with what to do, for an option that cannot be used."""
    with pytest_errors("torr"):
        rounds = config.getoption("torr_rounds")
        require(
            rounds is None or rounds > 0, f"--torr-rounds {rounds}: at least one round is needed"
        )
        profiling(config.getoption("torr_profile"))
        read_baseline(config)
        run_writer.check(config)
