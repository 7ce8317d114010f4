"""How many connections torr holds open at once, and what they cost: client, target and kernel.

    python benches/connections/run.py [--levels 5000,20000,50000] [--processes 3] [--seconds 10]
    python benches/connections/run.py --messages 200/s

With `--messages` the connections are of WebSocket, and idle but for this rate of messages over all
of them. Client and target share this machine, each in as many processes as it takes. Memory is read
once a second; a level has the most that was seen while it ran. The run is kept beside this file.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common.host import describe, stamp
from common.store import keep_none

TORR = Path(sys.executable).parent / "torr"
PAGE = 4096
MIB = 1 << 20

COLUMNS = (
    *("connections", "open at once", "processes", "ok/s", "success", "p99 ms", "firing MiB"),
    *("front MiB", "target MiB", "kernel slab MiB", "socket buffers MiB", "machine MiB"),
)
HEAD = f"\n| {' | '.join(COLUMNS)} |\n{'| --: ' * len(COLUMNS)}|\n"

NOTES = """
Memory of processes is PSS: what they share counts once. Firing: the processes that hold the
connections; 0 where the front does it itself. Front: Python, the merged histograms and the
intervals, which grow with the ladder, not with its connections. Target: all of its processes.
Kernel slab: growth of `SUnreclaim` since before the first level, both ends of each connection and
the sockets in TIME-WAIT of the levels before. Socket buffers: `mem` of `/proc/net/sockstat`, partly
in that slab. Machine: what `MemAvailable` lost, all of it together.
"""


def main() -> int:
    """Measures the ladder; 0 if every connection was open."""
    options = parse()
    keep_none()
    with tempfile.TemporaryDirectory() as folder:
        levels, seen, before = ladder(options, Path(folder))
    lines = [line(level, most(seen, number), before) for number, level in enumerate(levels)]
    host = {**describe(), "limit": descriptor_limit()}
    commands = [["target", *target_words(options)], *loads(options)]
    words = "\n".join(f"torr {' '.join(command)}" for command in commands)
    text = f"```json\n{json.dumps(host, indent=1)}\n```\n\n```text\n{words}\n```\n"
    text += HEAD + "\n".join(lines) + "\n" + NOTES
    path = Path(__file__).parent / "runs" / f"{stamp()}.md"
    path.write_text(text)
    print(f"{text}\nkept: {path}")
    asked = [int(level) for level in options.levels.split(",")]
    return 0 if [level["connections"]["open_max"] for level in levels] == asked else 1


def ladder(options: argparse.Namespace, folder: Path) -> tuple[list[Any], list[Any], Any]:
    """The levels, what was seen of memory while each ran, and before all of them."""
    words = [str(TORR), "target", *target_words(options)]
    target = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    url = target.stdout.readline().split()[-1] if target.stdout else ""
    try:
        seen, before = [], memory(None, target.pid)
        for load in loads(options):
            words = [str(TORR), *load, "-q", "-d", str(folder), url]
            client = subprocess.Popen(words, stdout=subprocess.DEVNULL)
            while client.poll() is None:
                seen.append((len(finished(folder)), memory(client.pid, target.pid)))
                time.sleep(1)
    finally:
        target.terminate()
        target.wait()
    return finished(folder), seen, before


def target_words(options: argparse.Namespace) -> list[str]:
    """What the target is, and its flags."""
    kind = "ws" if options.messages else "hello"
    return [kind, "--processes", str(options.processes)]


def loads(options: argparse.Namespace) -> list[list[str]]:
    """The loads, without URL: a ladder, or a run for each level."""
    times = ["-z", f"{options.seconds}s", "--timeout", "60s"]
    if not options.messages:
        return [["ladder", "--levels", options.levels, *times]]
    message = ["-b", "hello", "--rate", options.messages]
    return [["run", *message, "-c", level, *times] for level in options.levels.split(",")]


def finished(folder: Path) -> list[Any]:
    """The levels that are on disk."""
    # A link leads to the last of them.
    found = [path for path in folder.glob("*/result.json") if not path.parent.is_symlink()]
    found.sort(key=lambda path: path.parent.name)
    return [level for path in found for level in json.loads(path.read_text())["levels"]]


def memory(client: int | None, target: int) -> dict[str, int]:
    """Bytes of either side and of the kernel, now."""
    info = dict(re.findall(r"(\w+):\s+(\d+) kB", Path("/proc/meminfo").read_text()))
    sockets = re.search(r"^TCP: .* mem (\d+)", Path("/proc/net/sockstat").read_text(), re.MULTILINE)
    return {
        "firing": 0 if client is None else pss(*children(client)),
        "front": 0 if client is None else pss(str(client)),
        "target": pss(str(target), *children(target)),
        "slab": int(info["SUnreclaim"]) * 1024,
        "buffers": int(sockets[1]) * PAGE if sockets else 0,
        "used": -int(info["MemAvailable"]) * 1024,
    }


def children(process: int) -> list[str]:
    """The processes that it has started."""
    words = ["ps", "-o", "pid=", "--ppid", str(process)]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.split()


def pss(*processes: str) -> int:
    """Bytes of all of them."""
    return sum(map(pss_of_one, processes))


def pss_of_one(number: str) -> int:
    """Bytes of one process; none of one that is gone."""
    try:
        rollup = Path(f"/proc/{number}/smaps_rollup").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return 1024 * sum(map(int, re.findall(r"^Pss:\s+(\d+)", rollup, re.MULTILINE)))


def most(seen: list[Any], number: int) -> dict[str, int]:
    """The most of each figure while a level ran."""
    of_level = [figures for at, figures in seen if at == number]
    return {key: max(figures[key] for figures in of_level) for key in of_level[0]}


def line(level: Any, figures: dict[str, int], before: dict[str, int]) -> str:  # noqa: ANN401
    """One row of the table."""
    kernel = [figures[key] - before[key] for key in ("slab", "buffers", "used")]
    sides = [figures[key] for key in ("firing", "front", "target")]
    mib = [round(value / MIB) for value in (*sides, *kernel)]
    p99 = (level["latency"].get("service_ms") or {}).get("p99") or 0
    cells = [
        *(f"{level['concurrency']:,}", f"{level['connections']['open_max']:,}"),
        *(level["generator"]["processes"], f"{level['ok_per_s']:,.0f}"),
        *(f"{level['success_rate']:.2f} %", f"{p99:,.1f}", *mib),
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


def descriptor_limit() -> str:
    """What one process may hold, as the machine gives it."""
    limits = Path("/proc/self/limits").read_text()
    found = re.search(r"^Max open files\s+(\d+)\s+(\d+)", limits, re.MULTILINE)
    return f"{found[2]} descriptors a process" if found else "?"


def parse() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--levels", default="5000,20000,50000")
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--messages", help="rate of messages over idle connections of WebSocket")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
