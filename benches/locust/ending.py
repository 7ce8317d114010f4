"""How long a test of Locust takes to end after a signal, under Locust itself and under torr.

    python benches/locust/ending.py [--rounds 10] [--seconds 2]

A master with two workers, each a process of its own, and a process without workers; the signal goes
to the process that leads. Both have the same Locust, the newest, and take turns round by round. The
table is kept beside this file.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common.host import describe, stamp
from truth.firing import target

HERE = Path(__file__).resolve().parent
BIN = Path(sys.executable).parent
TOOLS = {"Locust": [str(BIN / "locust")], "torr": [str(BIN / "torr"), "locust"]}
SIGNALS = (signal.SIGTERM, signal.SIGINT)
WORKERS = (2, 0)
# Locust's master itself waits for its workers twice, half a second each time.
BAR_S = 0.2
# A process that has not ended by then counts as this late: Locust itself hangs at times.
MOST_S = 30
# Of all rounds: the first one makes it, as the first run of a user does.
STORE = tempfile.TemporaryDirectory(prefix="torr-ending-")

Process = subprocess.Popen[bytes]
Case = tuple[int, signal.Signals]
Times = tuple[float, float]


def main() -> int:
    """Measure and keep; 0 if the bar holds."""
    options = parse()
    # A shell has its background jobs ignore it, and what they start as well.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    found: dict[Case, dict[str, list[Times]]] = {}
    with target("hello", seconds=3600) as (url, _):
        for _ in range(options.rounds):
            for case in product(WORKERS, SIGNALS):
                for tool in TOOLS:
                    times = ended(tool, *case, url, options.seconds)
                    found.setdefault(case, {}).setdefault(tool, []).append(times)
    lines, holds = table(found)
    text = "\n".join([f"# The end of a test, {stamp()}", "", f"{describe()}", "", *lines])
    print(text)
    path = HERE / "runs" / f"{stamp()}.ending.md"
    path.write_text(text + "\n")
    print(f"kept: {path}")
    return 0 if holds else 1


def table(found: dict[Case, dict[str, list[Times]]]) -> tuple[list[str], bool]:
    """Return the medians as a table with the bars below it, and whether all bars hold."""
    rows = ["| workers | signal | tool | the leader has ended after, s | and its last worker, s |"]
    rows += ["| ---: | --- | --- | ---: | ---: |"]
    bars, holds = [], True
    for (workers, number), tools in found.items():
        leaders = {}
        for tool, times in tools.items():
            leads, follows = zip(*times, strict=True)
            leaders[tool] = statistics.median(leads)
            cells = [number.name, tool, shown(leads), shown(follows) if workers else "–"]
            rows.append(f"| {workers} | {' | '.join(cells)} |")
        more = leaders["torr"] - leaders["Locust"]
        holds &= more <= BAR_S
        verdict = "yes" if more <= BAR_S else "NO"
        took = f"torr takes {more:+.2f} s (bar: {BAR_S:g})"
        bars.append(f"- {workers} workers, {number.name}: {took}: {verdict}")
    return [*rows, "", *bars], holds


def shown(times: tuple[float, ...]) -> str:
    """Return the median of some times and their range."""
    return f"{statistics.median(times):.2f} ({min(times):.2f} … {max(times):.2f})"


def ended(tool: str, workers: int, number: signal.Signals, url: str, seconds: float) -> Times:
    """Return after how many seconds the leader and its last worker have ended."""
    with tempfile.TemporaryDirectory(prefix="torr-ending-") as place:
        users = ["-f", str(HERE / "ending_users.py"), "-H", url]
        leads = [*users, "--headless", "--only-summary", "-u", "2", "-r", "2"]
        port = free_port()
        if workers:
            leads += ["--master", "--master-bind-port", port, "--expect-workers", str(workers)]
        follows = [*users, "--worker", "--master-port", port]
        with started(tool, place, [leads, *[follows] * workers]) as processes:
            wait_for_load(place)
            time.sleep(seconds)
            began = time.monotonic()
            processes[0].send_signal(number)
            with ThreadPoolExecutor() as pool:
                leader_s, *others_s = pool.map(partial(seconds_to_end, began), processes)
            return leader_s, max(others_s, default=0.0)


def seconds_to_end(began: float, process: Process) -> float:
    """Wait for the end of a process, at most MOST_S; return how long after `began` it came."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=MOST_S)
    return time.monotonic() - began


@contextmanager
def started(tool: str, place: str, calls: list[list[str]]) -> Iterator[list[Process]]:
    """Start processes of a tool, and end those that are left."""
    surroundings = {
        **os.environ,
        "BEGAN": f"{place}/began",
        "TORR_OUT": f"{place}/runs",
        "TORR_STORE": f"sqlite:///{STORE.name}/store.db",
    }
    processes = []
    try:
        for call in calls:
            command = [*TOOLS[tool], *call]
            processes.append(
                subprocess.Popen(
                    command,
                    env=surroundings,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def wait_for_load(place: str) -> None:
    """Wait until a user has sent its first request."""
    until = time.monotonic() + MOST_S
    while not (Path(place) / "began").exists():
        if time.monotonic() > until:
            raise SystemExit("no user has begun")
        time.sleep(0.05)


def free_port() -> str:
    """Return a port of this machine that is free now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return str(server.getsockname()[1])


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=2, help="of load before the signal")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
