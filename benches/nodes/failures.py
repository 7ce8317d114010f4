"""How soon torr notices that a part of a cluster failed, and goes on without it.

    python benches/nodes/failures.py [--only NAME,…] [--rounds 3]

The cluster is that of the tests: three namespaces with Ray (`make build/ray/.pins`; needs root).
torr sends load from all three for 9 s. After about 2 s something fails. Until torr has given a lost
node up, no interval is complete: the longest time between two intervals is how long it took. Where
torr itself ends, the time is that until no node sends any more. The run is kept beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from common.host import describe, stamp
from ray_nodes import Nodes, run

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT_S = 3
FLAGS = ("--nodes", "all", "-c", "6", "-z", "9s", "--warmup", "0s", "--no-store")
LAST = 2
"""The node that fails."""
COLUMNS = ("failed", "noticed after (s)", "of", "lost nodes", "exit code", "ok", "left on nodes")
HEAD = f"| {' | '.join(COLUMNS)} |\n{'| --- ' * len(COLUMNS)}|\n"


def kill(nodes: Nodes, number: int, word: str, kind: int = signal.SIGKILL) -> None:
    """Send a signal to the processes of a node that have a word in their command."""
    found = nodes.processes_on(number, word)
    if not found:
        raise SystemExit(f"no process with {word} on node {number}")
    for process in found:
        with suppress(ProcessLookupError):
            os.kill(process, kind)


@dataclass(frozen=True)
class Failure:
    """What fails, and how the load must end."""

    cause: Callable[[Nodes, subprocess.Popen[str]], None]
    lost: tuple[tuple[str, ...], ...] = (("node2",),)
    """The nodes of which one list is lost."""
    code: int = 0


FAILURES = {
    "engine process killed": Failure(lambda nodes, _: kill(nodes, LAST, "_engine.fire")),
    "engine process frozen": Failure(
        lambda nodes, _: kill(nodes, LAST, "_engine.fire", signal.SIGSTOP)
    ),
    # Its engine process sends on to the end of the load, unless Ray ends it.
    "agent killed": Failure(lambda nodes, _: kill(nodes, LAST, "ray::"), ((), ("node2",))),
    "raylet killed": Failure(lambda nodes, _: kill(nodes, LAST, "raylet/raylet")),
    "node killed": Failure(lambda nodes, _: nodes.kill(LAST)),
    "link cut": Failure(lambda nodes, _: run("ip", "link", "set", nodes.link(LAST), "down")),
    "GCS killed": Failure(lambda nodes, _: kill(nodes, 0, "gcs_server"), (("node0",),)),
    "process that holds Ray killed": Failure(
        lambda nodes, _: kill(nodes, 0, "torr.cluster.launcher"), (("node1", "node2", "node0"),), 3
    ),
    "torr killed": Failure(lambda nodes, torr: nodes.kill_all_of(torr), ((),), -9),
}


def main() -> int:
    """Measure each failure; return 0 if each was noticed in time and nothing was left."""
    options = parse()
    names = options.only.split(",") if options.only else list(FAILURES)
    rows, is_fine = [], True
    for name in names:
        cells, is_good = measured(name, options.rounds)
        is_fine &= is_good
        rows.append(f"| {' | '.join(map(str, cells))} |")
        print(rows[-1], flush=True)
    host = json.dumps(describe(), indent=1)
    text = f"```json\n{host}\n```\n\n```text\ntorr run {' '.join(FLAGS)} URL\n```\n\n"
    text += HEAD + "\n".join(rows) + "\n"
    path = Path(__file__).parent / "runs" / f"{stamp()}-failures.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    print(f"kept: {path}")
    return 0 if is_fine else 1


def measured(name: str, rounds: int) -> tuple[tuple[object, ...], bool]:
    """Return the cells of a failure's row, and whether all is as it should be."""
    failure = FAILURES[name]
    outcomes = [once(name, failure) for _ in range(rounds)]
    times = [outcome.noticed_s for outcome in outcomes]
    shown = f"{statistics.median(times):.2f} ({min(times):.2f}–{max(times):.2f})"
    lost = sorted({", ".join(outcome.lost) or "none" for outcome in outcomes})
    codes = sorted({outcome.code for outcome in outcomes})
    left = max(outcome.left for outcome in outcomes)
    is_good = all(
        one.lost in failure.lost and one.code == failure.code and one.left == 0 for one in outcomes
    )
    cells = (name, shown, rounds, " or ".join(lost), *codes, outcomes[-1].ok, left)
    return cells, is_good and max(times) <= LIMIT_S


@dataclass(frozen=True)
class Outcome:
    """How a load with a failure ended."""

    noticed_s: float
    code: int
    lost: tuple[str, ...]
    ok: int
    left: int


def once(name: str, failure: Failure) -> Outcome:
    """Send a load in whose middle something fails."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="torr-failures-")))
        nodes = Nodes(stack, folder)
        target = nodes.target("hello")
        torr = nodes.start(folder, "run", *FLAGS, target.url)
        nodes.wait_for_load(3)
        time.sleep(1)
        failed_at = time.monotonic()
        failure.cause(nodes, torr)
        if name == "torr killed":
            while nodes.engines() and time.monotonic() < failed_at + 2 * LIMIT_S:
                time.sleep(0.01)
            return Outcome(time.monotonic() - failed_at, -9, (), 0, len(nodes.engines()))
        longest_s = longest_gap_s(folder, torr)
        ended = nodes.end(torr, folder)
        level = ended.level
        lost = [node["name"] for node in level["generator"]["nodes"] if node["lost_processes"]]
        time.sleep(1)
        ok = level["counts"]["ok"]
        return Outcome(longest_s, ended.code, tuple(lost), ok, len(nodes.engines()))


def longest_gap_s(folder: Path, torr: subprocess.Popen[str]) -> float:
    """Return the longest time in which no interval came, from now to the end of the window."""
    longest_s, size, since = 0.0, -1, time.monotonic()
    while torr.poll() is None:
        now = time.monotonic()
        files = list(folder.glob("_output/torr/*/intervals.jsonl"))
        new_size = files[0].stat().st_size if files else 0
        if new_size != size:
            longest_s = max(longest_s, now - since)
            size, since = new_size, now
        time.sleep(0.01)
    return longest_s


def parse() -> argparse.Namespace:
    """Read the flags."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", help=f"some of {', '.join(FAILURES)}")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
