"""What `torr ladder --rates auto` claims of a target whose capacity is known.

The target serves 60 requests at a time, each for 200 ms: 300 per second. Searches begin at rates
whose doublings lie between each other, so that each measures other rates near the capacity.
"""

from __future__ import annotations

import tempfile
from collections import Counter

from torr.results.result import RunResult, decoded
from truth.firing import TORR, generating, target
from truth.row import Round, Value

BAR = "every claim of 10 searches within -15 … +2 % of 300/s, ok/s at the peak within 2 %"

_PLACES, _DELAY_MS = 60, 200
CAPACITY = _PLACES * 1000 / _DELAY_MS
LEAST, MOST = 0.85 * CAPACITY, 1.02 * CAPACITY

_SEARCHES, _QUICK_SEARCHES = 10, 1
_FIRST = 10.0
_PATIENCE_S = 600
_SLO = "p95 < 400ms"


def searched(seconds: int) -> Round:
    """Search for the capacity several times, with levels of so many seconds."""
    count = _SEARCHES if seconds >= 10 else _QUICK_SEARCHES
    starts = [_FIRST * 2 ** (number / count) for number in range(count)]
    results = [_search(start, seconds) for start in starts]
    claims = [claimed(result) for result in results]
    peaks = [peak_of(result) for result in results]
    verdicts = Counter(level.health.verdict for result in results for level in result.levels)
    return Round(
        {
            f"claims of {count}": Value(sum(LEAST <= one <= MOST for one in claims), count, 0),
            "highest peak, ok/s": Value(max(peaks), CAPACITY, 0.02 * CAPACITY),
        },
        {
            "claimed/s": " ".join(f"{one:g}" for one in sorted(claims)),
            "health": " ".join(f"{number} {word}" for word, number in verdicts.items()),
        },
    )


def claimed(result: RunResult) -> float:
    """Return the highest rate that a ladder says holds the SLO; 0 if it claims none."""
    capacity = result.capacity
    return float(capacity.slo.position) if capacity and capacity.slo else 0.0


def peak_of(result: RunResult) -> float:
    """Return the highest ok/s that a ladder names; 0 if it names none."""
    peak = result.capacity.peak if result.capacity else None
    return peak.ok_per_s if peak else 0.0


def _search(start: float, seconds: int) -> RunResult:
    serving = ("--delay", f"{_DELAY_MS}ms", "--capacity", str(_PLACES))
    with (
        tempfile.TemporaryDirectory(prefix="torr-truth-") as place,
        target("delay", *serving, seconds=_PATIENCE_S) as (url, _),
    ):
        levels = ("--rates", f"auto:{start:.3g}", "--slo", _SLO, "-z", f"{seconds}s")
        kept = ("--workers", "1", "-d", place, "-o", "json", "-q")
        with generating([TORR, "ladder", url, *levels, *kept]) as process:
            output, _ = process.communicate(timeout=_PATIENCE_S)
    return decoded(output.encode(), "what torr ladder printed")
