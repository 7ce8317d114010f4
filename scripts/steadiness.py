"""Run `make test` many times, half of them beside other work, and say which runs failed.

    python scripts/steadiness.py [--runs 20]

The first half of the runs has the machine to itself. Beside each of the others a busy loop per core
runs at normal priority. Outputs go to build/steadiness, a table to build/steadiness.json. The exit
code is 1 when a run failed. Twenty runs take about three hours on two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOGS = ROOT / "build" / "steadiness"
TABLE = ROOT / "build" / "steadiness.json"
# A busy loop ends by itself, should this script be killed.
MOST_S = 30 * 60
BUSY = f"import time; end = time.monotonic() + {MOST_S}\nwhile time.monotonic() < end: pass"


def main() -> int:
    """Run the tests as often as asked, and print each run; 1 when one failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    LOGS.mkdir(parents=True, exist_ok=True)
    table = []
    for number in range(1, runs + 1):
        is_busy = number > runs // 2
        began = time.monotonic()
        with (LOGS / f"{number}.log").open("wb") as output, busy_cores(is_busy=is_busy):
            ended = subprocess.run(
                ["make", "test"], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, check=False
            )
        seconds = round(time.monotonic() - began)
        table.append({"busy": is_busy, "seconds": seconds, "code": ended.returncode})
        TABLE.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
        beside = "beside other work" if is_busy else "alone"
        word = "passed" if ended.returncode == 0 else "FAILED"
        print(f"run {number}, {beside}: {word} in {seconds} s", flush=True)
    failed = sum(run["code"] != 0 for run in table)
    print(f"{failed} of {runs} runs failed")
    return 1 if failed else 0


@contextmanager
def busy_cores(*, is_busy: bool) -> Iterator[None]:
    """Keep every core busy, if asked."""
    count = len(os.sched_getaffinity(0)) if is_busy else 0
    loops = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


if __name__ == "__main__":
    sys.exit(main())
