"""The thresholds of the generator's health are those of the engine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from torr.model import generator_limits

HEALTH = Path(__file__).parents[3] / "crates/engine/src/measure/health.rs"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FULL_RATE", generator_limits.FULL_RATE),
        ("RUN_QUEUE_RATE", generator_limits.RUN_QUEUE_RATE),
        ("STEAL_RATE", generator_limits.STEAL_RATE),
        ("LAG_NS", generator_limits.LAG_MS * 1e6),
    ],
)
def test_a_threshold_is_that_of_the_engine(name, value):
    found = re.search(rf"const {name}: \w+ = ([\d_.]+);", HEALTH.read_text())
    assert float(found[1]) == value
