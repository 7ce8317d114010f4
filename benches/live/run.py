"""What the live page costs while a load goes on: processor time of its thread, by its own clock.

    python benches/live/run.py [--readers 0,1,3] [--seconds 30]

Each row is a load of its own on loopback, with so many pages open from its start on, which read
every event. The clock is read from /metrics at the start and the end of the window, so its two
answers are in the figure. A window of 30 s has an interval a second, one of 5 s has ten. The run is
kept beside this file.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common.host import describe, stamp

TORR = Path(sys.executable).parent / "torr"
SHORT_S = 5
"""A window whose intervals come ten times a second."""
HEAD = "| window | pages open | intervals/s | seconds seen | of a core |\n" + "| --: " * 5 + "|\n"


def main() -> int:
    """Measure each row; 0 if none took more than 1 % of a core with a page open."""
    options = parse()
    target = subprocess.Popen(
        [TORR, "target", "delay", "--delay", "2ms"], stdout=subprocess.PIPE, text=True
    )
    try:
        url = target.stdout.readline().split()[-1] if target.stdout else ""
        rows = [
            measured(url, window, readers)
            for window in (options.seconds, SHORT_S)
            for readers in map(int, options.readers.split(","))
        ]
    finally:
        target.terminate()
        target.wait()
    lines = [f"| {w} s | {n} | {rate:.1f} | {s:.1f} | {cost:.2%} |" for w, n, rate, s, cost in rows]
    words = "torr target delay --delay 2ms\ntorr run -c 20 --live -z WINDOW URL"
    host = json.dumps(describe(), indent=1)
    text = f"```json\n{host}\n```\n\n```text\n{words}\n```\n\n{HEAD}" + "\n".join(lines) + "\n"
    path = Path(__file__).parent / "runs" / f"{stamp()}.md"
    path.write_text(text)
    print(f"{text}\nkept: {path}")
    return 0 if all(cost <= 0.01 for *_, cost in rows) else 1


def measured(url: str, window: int, readers: int) -> tuple[int, int, float, float, float]:
    """Window, pages, intervals a second, how long it was looked at, and its share of a core."""
    with tempfile.TemporaryDirectory() as folder:
        flags = ["-c", "20", "-z", f"{window}s", "-q", "-d", folder, "--live-port", "0"]
        firing = subprocess.Popen(
            [TORR, "run", "--live", *flags, url], stderr=subprocess.PIPE, text=True
        )
        page = firing.stderr.readline().split()[-1] if firing.stderr else ""
        heard = [0] * readers
        pages = [threading.Thread(target=read, args=(page, heard, at)) for at in range(readers)]
        for each in pages:
            each.start()
        time.sleep(1)
        first, before = clock(page), sum(heard)
        time.sleep(window - 1)
        last, after = clock(page), sum(heard)
        for each in pages:
            each.join()
        firing.communicate()
    seconds = last[0] - first[0]
    rate = (after - before) / readers / seconds if readers else 0.0
    return window, readers, rate, seconds, (last[1] - first[1]) / seconds


def read(page: str, heard: list[int], at: int) -> None:
    """Read every event as a browser does, and count the intervals."""
    with urllib.request.urlopen(f"{page}events") as events:  # noqa: S310 - http
        for line in events:
            heard[at] += line == b"event: interval\n"


def clock(page: str) -> tuple[float, float]:
    """The wall clock, and the processor time of the page's thread."""
    with urllib.request.urlopen(f"{page}metrics") as answer:  # noqa: S310 - http
        text = answer.read().decode()
    found = re.search(r"^torr_live_cpu_seconds_total (\S+)$", text, re.MULTILINE)
    return time.monotonic(), float(found[1]) if found else 0.0


def parse() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--readers", default="0,1,3")
    parser.add_argument("--seconds", type=int, default=30)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
