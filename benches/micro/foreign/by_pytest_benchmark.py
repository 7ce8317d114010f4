"""The functions as users of pytest-benchmark time them."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from micro.functions import FUNCTIONS


@pytest.mark.parametrize("name", FUNCTIONS)
def test_time(benchmark, name) -> None:
    """One function."""
    benchmark(FUNCTIONS[name].call)
    benchmark.extra_info["name"] = name
