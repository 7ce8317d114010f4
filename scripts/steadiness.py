"""Run `make test` many times, half of them on busy cores, and print which runs failed.

    python scripts/steadiness.py [--runs 20] [--busy 10]

During the first runs, as many as --busy says, a busy loop runs on each core at normal priority,
and the environment is that of a CI server.
The output of each run goes to build/steadiness, a table of all runs with their commit to
build/steadiness.json. The exit code is 1 if a run failed, or if its busy loops ended before it.
Twenty runs take about three hours on two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
LOGS = ROOT / "build" / "steadiness"
TABLE = ROOT / "build" / "steadiness.json"
# Busy loops end by themselves after this time, in case this script is killed.
MOST_S = 60 * 60
BUSY = f"import time; end = time.monotonic() + {MOST_S}\nwhile time.monotonic() < end: pass"


def main() -> int:
    """Run the tests as often as requested and print each run; return 1 if one failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=20, help="how many runs (default: 20)")
    parser.add_argument("--busy", type=int, help="how many of them on busy cores (default: half)")
    arguments = parser.parse_args()
    runs = arguments.runs
    busy = runs // 2 if arguments.busy is None else arguments.busy
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    LOGS.mkdir(parents=True, exist_ok=True)
    describe = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(describe, cwd=ROOT, check=True, capture_output=True, text=True)
    table = []
    for number in range(1, runs + 1):
        is_busy = number <= busy
        start_s = time.monotonic()
        environment = {**os.environ, "CI": "true"} if is_busy else None
        with (LOGS / f"{number}.log").open("wb") as output, busy_cores(is_busy=is_busy):
            process = subprocess.run(
                ["make", "test"],
                cwd=ROOT,
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            )
        seconds = round(time.monotonic() - start_s)
        run = {"busy": is_busy, "seconds": seconds, "code": process.returncode}
        table.append({"commit": commit.stdout.strip(), **run})
        TABLE.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
        cores = "busy cores" if is_busy else "idle cores"
        verdict = "passed" if process.returncode == 0 else "FAILED"
        print(f"run {number}, {cores}: {verdict} in {seconds} s", flush=True)
    failed = sum(run["code"] != 0 for run in table)
    print(f"{failed} of {runs} runs failed")
    return 1 if failed else 0


@contextmanager
def busy_cores(*, is_busy: bool) -> Iterator[None]:
    """Run a busy loop per core, if `is_busy`."""
    count = len(os.sched_getaffinity(0)) if is_busy else 0
    loops = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
        if any(loop.poll() is not None for loop in loops):
            raise SystemExit(f"the busy loops ended before the run did, after {MOST_S} s")
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


if __name__ == "__main__":
    sys.exit(main())
