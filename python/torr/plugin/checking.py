"""Options of pytest against what there is: names, directories, tools, changes, kept runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from torr.errors import TorrError, require
from torr.plugin import keeping
from torr.plugin.beside import read_baseline

if TYPE_CHECKING:
    from torr.results.profile import ProfileKind


def check(config: pytest.Config) -> None:
    """Raise pytest's UsageError that says what is wrong, and what to try."""
    try:
        rounds = config.getoption("torr_rounds")
        require(
            rounds is None or rounds > 0, f"--torr-rounds {rounds}: there is at least one round"
        )
        _check_profiler(config.getoption("torr_profile"))
        read_baseline(config)
        keeping.check(config)
    except TorrError as error:
        hint = f" ({error.hint})" if error.hint else ""
        raise pytest.UsageError(f"torr: {error.message}{hint}") from error


def _check_profiler(kind: ProfileKind | None) -> None:
    if kind is not None:
        from torr.micro.profiling import Profiling

        Profiling(kind)
