"""What torr's plugin adds to the start of a pytest that has no use for it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path
from statistics import median

import pytest

from micro.row import Effort, Finding
from torr.stats import signed_rank

BAR = "≤ 10 ms: median of interleaved starts of `pytest --collect-only`, with it less without it"

_MOST_MS = 10.0
_WITHOUT = ("-p", "no:torr")
# Plugins of others that stand beside torr here take a second, and would hide its milliseconds.
_OTHERS = tuple(
    word
    for plugin in entry_points(group="pytest11")
    if plugin.name != "torr"
    for word in ("-p", f"no:{plugin.name}")
)
# What only the plugin knows.
_ITS_OWN = ("--torr-rounds", "1")


def measure(effort: Effort) -> Finding:
    """Starts in pairs, the order turned round in every second one; one of each warms up."""
    with tempfile.TemporaryDirectory(prefix="torr-micro-") as place:
        folder = Path(place)
        (folder / "pytest.ini").write_text("[pytest]\n")
        (folder / "test_empty.py").write_text("")
        if _start(folder, *_ITS_OWN)[0] == pytest.ExitCode.USAGE_ERROR:
            return Finding(None, ["this pytest does not have the plugin"])
        if _start(folder, *_ITS_OWN, *_WITHOUT)[0] != pytest.ExitCode.USAGE_ERROR:
            return Finding(None, ["this pytest cannot do without the plugin"])
        pairs = [_pair(folder, turned=number % 2 == 1) for number in range(effort.starts)]
    more = added(pairs)
    low, high = signed_rank.interval(more, 0.05)
    words = [
        f"{median(more):.1f} ms (95 % interval {low:.1f} to {high:.1f})",
        f"without it {median(before for before, _ in pairs):.0f} ms",
        f"{len(pairs)} pairs",
    ]
    return Finding(is_little(low, high), words, {"pairs_ms": pairs})


def added(pairs: Sequence[tuple[float, float]]) -> list[float]:
    """What it added in each pair of starts without and with it."""
    return [after - before for before, after in pairs]


def is_little(low: float, high: float) -> bool | None:
    """Whether it adds no more than it may: not shown where the limit lies within the interval."""
    return None if low <= _MOST_MS < high else high <= _MOST_MS


def _pair(folder: Path, *, turned: bool) -> tuple[float, float]:
    if turned:
        after = _start(folder)[1]
        return _start(folder, *_WITHOUT)[1], after
    before = _start(folder, *_WITHOUT)[1]
    return before, _start(folder)[1]


def _start(folder: Path, *words: str) -> tuple[int, float]:
    """How a pytest ended, and after how many milliseconds: two ways in which it may end."""
    plain = ["-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *plain, *_OTHERS, *words, "test_empty.py"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    took_ms = 1000 * (time.perf_counter() - began)
    if done.returncode not in (pytest.ExitCode.NO_TESTS_COLLECTED, pytest.ExitCode.USAGE_ERROR):
        raise RuntimeError(f"pytest ended with {done.returncode}: {done.stdout[-300:]!r}")
    return done.returncode, took_ms
