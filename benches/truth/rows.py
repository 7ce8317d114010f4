"""The rows: what is known, what torr says of it, and how far apart they may be."""

from __future__ import annotations

import csv
import json
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TORR = str(Path(sys.executable).with_name("torr"))
PERCENTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99_9": 0.999}


@dataclass(frozen=True)
class Row:
    """One known thing; `errors` gives, by name, what was found and how far it may be off."""

    name: str
    bar: str
    errors: Callable[[int], dict[str, tuple[float, float, float]]]


@dataclass
class Found:
    """What came of a row."""

    name: str
    bar: str
    within: bool
    note: str
    rounds: list[Any]


@contextmanager
def target(*words: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A `torr target` on the second core; its URL and its process."""
    command = [TORR, "target", *words, "--for", "120s"]
    process = pinned(command, core=1)
    url = (process.stdout or sys.stdin).readline().split()[-1]
    try:
        yield url, process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)


def fire(url: str, *words: str) -> subprocess.Popen[str]:
    """Starts torr on the first core."""
    command = [TORR, "run", url, *words, "--workers", "1", "-o", "json", "-d", tempfile.mkdtemp()]
    return pinned(command, core=0)


def pinned(command: list[str], core: int) -> subprocess.Popen[str]:
    """Starts a command on one core."""
    words = ["taskset", "-c", str(core), *command]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def level_of(process: subprocess.Popen[str]) -> dict[str, Any]:
    """The level of a finished run."""
    output, _ = process.communicate(timeout=200)
    level: dict[str, Any] = json.loads(output)["levels"][0]
    return level


def known_latency(*words: str) -> Callable[[int], dict[str, tuple[float, float, float]]]:
    """What a delaying target logged against what torr measured, in ms."""

    def errors(seconds: int) -> dict[str, tuple[float, float, float]]:
        log = Path(tempfile.mkdtemp()) / "truth.csv"
        with target("delay", *words, "--log", str(log)) as (url, _):
            level = level_of(fire(url, "--rate", "2000", "-c", "200", "-z", f"{seconds}s"))
        with log.open() as lines:
            rows = list(csv.DictReader(lines))
        # From the last byte of the request to the write of the answer, in ms; the warm-up's rows
        # come first and are as many as the client says.
        skip = level["warmup"]["counts"]["attempted"]
        truth = sorted((int(r["sent_ns"]) - int(r["received_ns"])) / 1e6 for r in rows[skip:])
        found = {}
        for name, p in PERCENTILES.items():
            seen = level["latency"]["service_ms"].get(name)
            if seen is not None:
                known = truth[min(int(p * len(truth)), len(truth) - 1)]
                loose = max(0.02 * known, 1.0) if name == "p99_9" else max(0.01 * known, 0.1)
                found[name] = (seen, known, loose)
        return found

    return errors


def frozen(seconds: int) -> dict[str, tuple[float, float, float]]:
    """A 10 ms target stopped for 2 s within 20 s: its response percentiles follow by counting."""
    del seconds
    with target("delay", "--delay", "10ms") as (url, process):
        run = fire(url, "--rate", "200", "-c", "1000", "-z", "20s", "--warmup", "2s")
        time.sleep(10)
        process.send_signal(signal.SIGSTOP)
        time.sleep(2)
        process.send_signal(signal.SIGCONT)
        level = level_of(run)
    response = level["latency"]["response_ms"]
    found = {name: (response[name], 10.0, 0.1) for name in ("p50", "p75")}
    known = {"p95": 1000.0, "p99": 1800.0}
    found |= {name: (response[name], value, 0.02 * value) for name, value in known.items()}
    healthy = 0.0 if level["health"]["verdict"] == "healthy" else 1.0
    found["not healthy"] = (healthy, 0.0, 0.0)
    return found


def paced(rate: int) -> Callable[[int], dict[str, tuple[float, float, float]]]:
    """Arrivals at a constant rate: achieved against planned, in requests/s."""

    def errors(seconds: int) -> dict[str, tuple[float, float, float]]:
        with target("hello") as (url, _):
            level = level_of(fire(url, "--rate", str(rate), "-c", "64", "-z", f"{seconds}s"))
        return {"attempted/s": (level["attempted_per_s"], float(rate), rate * 0.001)}

    return errors


LATENCY_BAR = "to p99 max(1 %, 0.1 ms), p99.9 max(2 %, 1 ms)"
ROWS = [
    Row("constant 5 ms", LATENCY_BAR, known_latency("--delay", "5ms")),
    Row("bimodal 2 ms, 20 ms, 10 %", LATENCY_BAR, known_latency("--bimodal", "2ms,20ms,0.1")),
    Row("heavy-tailed, median 5 ms, σ 0.8", LATENCY_BAR, known_latency("--heavy", "5ms,0.8")),
    Row("frozen for 2 s of 20 s", "p50 p75 0.1 ms, p95 p99 2 %, healthy", frozen),
    Row("10/s", "0.1 %", paced(10)),
    Row("1,000/s", "0.1 %", paced(1000)),
    Row("50,000/s", "0.1 %", paced(50_000)),
]


def measure(row: Row, rounds: int, seconds: int) -> Found:
    """Measures a row in rounds; each value is judged by the median of its distance to the truth."""
    kept = [row.errors(seconds) for _ in range(rounds)]
    words, within = [], True
    for name in kept[0]:
        values = [one[name] for one in kept if name in one]
        distance = statistics.median(abs(seen - known) for seen, known, _ in values)
        allowed = statistics.median(loose for *_, loose in values)
        seen = statistics.median(seen for seen, *_ in values)
        known = statistics.median(known for _, known, _ in values)
        met = distance <= allowed
        within = within and met
        words.append(f"{name} {seen:.3f} ({known:.3f}){'' if met else ' off'}")
    return Found(row.name, row.bar, within, ", ".join(words), kept)
