"""The functions as torr times them, in a process of its own as the other tools' are.

Prints the median of each in nanoseconds as JSON, and what torr took off an operation of a batch.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from micro.functions import FUNCTIONS, Timed
from torr.micro import overhead
from torr.micro.measuring import measure
from torr.micro.subject import Subject
from torr.micro.trial import trials


def median_ns(name: str, timed: Timed) -> float:
    """What torr tells its users: the median over rounds of each round's median."""
    levels = trials(name, {}, measure(Subject(timed.call), timed.count))
    return 1e6 * median(level.latency.response.p50 or 0.0 for level in levels)


if __name__ == "__main__":
    times = {name: median_ns(name, timed) for name, timed in FUNCTIONS.items()}
    print(json.dumps({"times_ns": times, "turn_ns": overhead.timing_overhead().turn_ns}))
