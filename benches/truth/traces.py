"""Traces of ten million rows: torr reads them as it sends them, so that they need little memory.

The beginning is replayed against `torr target openai`, which writes down when the first request
came. Another process reads all rows, without sending them.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from common.target import now_ns
from truth.firing import TORR, pinned, target
from truth.row import Round, Value

BAR = "memory ≤ 100 MB, first request ≤ 2 s after the start"

ROWS = 10_000_000
QUICK_ROWS = 1_000_000
FEW_ROWS = 1000

_ROWS_PER_S = 200
# So fast that what torr keeps of blocks and rows ahead is full before the end.
_SPEED = "8"
_LINES_AT_ONCE = 10_000
_LOOK_S = 0.05
_READ = """
import sys
from pathlib import Path
from torr.sources.traces.reader import read_trace
print(sum(1 for _ in read_trace(Path(sys.argv[1]))))
print(next(x.split()[1] for x in open("/proc/self/status") if x.startswith("VmHWM:")))
"""

Lines = Callable[[int], Iterator[str]]


def burstgpt(rows: int) -> Iterator[str]:
    """Yield the lines of a CSV file; every fifth row belongs to a session of ten."""
    yield "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens\n"
    for n in range(rows):
        session = "" if n % 5 else f"session-{n // 50}"
        yield f"{n / _ROWS_PER_S},{session},0.01,GPT-4,{200 + n % 100},{1 + n % 9}\n"


def mooncake(rows: int) -> Iterator[str]:
    """Yield JSON lines; each row has two blocks that all have, and two of its own."""
    for n in range(rows):
        ids = f"[1, 2, {2 * n + 3}, {2 * n + 4}]"
        yield (
            f'{{"timestamp": {n * 1000 // _ROWS_PER_S}, "input_length": 2000,'
            f' "output_length": {1 + n % 9}, "hash_ids": {ids}}}\n'
        )


def large(lines: Lines) -> Callable[[int], Round]:
    """Return a row for traces of a format."""

    def measure(seconds: int) -> Round:
        rows = ROWS if seconds >= 10 else QUICK_ROWS
        with tempfile.TemporaryDirectory(prefix="torr-trace-") as folder:
            few, many = Path(folder, "few"), Path(folder, "many")
            write(few, lines(FEW_ROWS))
            write(many, lines(rows))
            few_mb, _, _ = replayed(few, seconds)
            many_mb, first_s, sent = replayed(many, seconds)
            read, read_mb = read_whole(many)
        values = {
            "rows": Value(read, rows, 0),
            "MB, replayed": at_most(many_mb, 100),
            "MB, read": at_most(read_mb, 100),
            "s to the first request": at_most(first_s, 2),
        }
        return Round(values, {"MB more than 1,000 rows": many_mb - few_mb, "sent": sent})

    return measure


def at_most(seen: float, most: float) -> Value:
    """Return a value that should be 0, and may be so large."""
    return Value(seen, 0, most)


def write(path: Path, lines: Iterator[str]) -> None:
    """Write lines, a few at a time."""
    with path.open("w") as file:
        while some := list(islice(lines, _LINES_AT_ONCE)):
            file.writelines(some)


def replayed(trace: Path, seconds: int) -> tuple[float, float, int]:
    """Replay the beginning of a trace.

    Return the most MB, the seconds until the first request came, and how many came.
    """
    log = trace.with_suffix(".log")
    place = trace.with_suffix(".runs")
    with target("openai", "--log", str(log)) as (url, _):
        chat = ("--chat", "openai", "--model", "any")
        words = (*chat, "--trace", str(trace), "--speed", _SPEED, "-z", f"{seconds}s")
        begun = now_ns()
        command = [TORR, "run", url, *words, "--workers", "1", "-q", "-d", str(place)]
        with pinned(command, "0") as process:
            most = most_mb(process)
            if process.returncode:
                message = f"torr ended with status {process.returncode}"
                raise RuntimeError(message)
    with log.open(newline="") as events:
        came = [int(row["sent_ns"]) for row in csv.DictReader(events) if row["event"] == "received"]
    return most, (min(came) - begun) / 1e9, len(came)


def most_mb(process: subprocess.Popen[str]) -> float:
    """Return the most memory that a quiet process has until it ends."""
    most = 0.0
    while process.poll() is None:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        found = [int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")]
        most = max([most, *found])
        time.sleep(_LOOK_S)
    return most


def read_whole(trace: Path) -> tuple[int, float]:
    """Read a trace in a process of its own; return its rows, and the most MB."""
    command = [sys.executable, "-c", _READ, str(trace)]
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    rows, kib = ended.stdout.split()
    return int(rows), int(kib) / 1024
