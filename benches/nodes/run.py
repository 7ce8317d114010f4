"""What a node costs the process that starts a load, and how many nodes fill one of its cores.

    python benches/nodes/run.py [--nodes 10,100,300,1000] [--seconds 5] [--requests 1000]

Nodes are connections of a program that sends invented reports, ten a second and as large as those
of a worker with so many requests a second. It has one core of this machine, and this process the
other, in which the engine adds the reports and Python decodes each interval, as in `torr run`. The
run is kept beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import struct
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common.host import describe, stamp
from torr import engine
from torr.model.pace import Open
from torr.model.plan import Duration, Group, Plan
from torr.model.request import Request
from torr.model.source import Source

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/invented-nodes"
BYTES_RECEIVED_AT = 128
"""The place of `tcpi_bytes_received` in Linux's `struct tcp_info`."""
LEAST_NODES = 300
"""So many nodes must not fill a core."""
LEAST_SHARE = 0.9999
MOST_LATE_MS = 100.0
"""An interval: later ones would come faster than they are added."""
COLUMNS = (
    *("nodes", "cores", "CPU per node and s (ms)", "nodes per core", "frames MB/s"),
    *("interval late p50 (ms)", "p99 (ms)", "requests reported"),
)
HEAD = f"| {' | '.join(COLUMNS)} |\n{'| --: ' * len(COLUMNS)}|\n"


@dataclass(frozen=True)
class Row:
    """The cost of a load from so many nodes."""

    nodes: int
    cores: float
    received_mb_per_s: float
    late_ms: tuple[float, float]
    share: float

    @property
    def is_good(self) -> bool:
        """Whether all was reported, and in time."""
        return self.share >= LEAST_SHARE and self.late_ms[1] <= MOST_LATE_MS

    @property
    def per_node_ms(self) -> float:
        """The processor time for a node in a second."""
        return 1000 * self.cores / self.nodes

    def line(self) -> str:
        """Return the row of the table."""
        of_one_core = f"{self.nodes / self.cores:.0f}" if self.is_good else "–"
        received, late = f"{self.received_mb_per_s:.1f}", [f"{ms:.1f}" for ms in self.late_ms]
        cells = (self.nodes, f"{self.cores:.3f}", f"{self.per_node_ms:.3f}", of_one_core, received)
        return f"| {' | '.join(map(str, (*cells, *late, f'{self.share:.4%}')))} |"


def main() -> int:
    """Measure each number of nodes; return 0 if 300 of them use less than a core."""
    options = parse()
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[0]})
    rows = []
    for nodes in map(int, options.nodes.split(",")):
        rows.append(measured(nodes, options.seconds, options.requests, cores[-1]))
        print(rows[-1].line(), flush=True)
    lines = "\n".join(row.line() for row in rows)
    flags = f"--nodes {options.nodes} --seconds {options.seconds} --requests {options.requests}"
    host = json.dumps(describe(), indent=1)
    text = f"```json\n{host}\n```\n\n```text\npython benches/nodes/run.py {flags}\n```\n\n"
    text += f"{HEAD}{lines}\n"
    path = Path(__file__).parent / "runs" / f"{stamp()}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    print(f"{HEAD}{lines}\nkept: {path}")
    return 0 if all(row.is_good for row in rows if row.nodes <= LEAST_NODES) else 1


def measured(nodes: int, seconds: int, requests: int, core: int) -> Row:
    """Receive the reports of so many nodes."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=4096))
        host, port = listener.getsockname()
        words = ["taskset", "-c", str(core), str(PROGRAM), f"{host}:{port}", str(nodes)]
        program = subprocess.Popen([*words, str(requests)])
        stack.callback(program.wait)
        stack.callback(program.terminate)
        listener.settimeout(60)
        sockets = [stack.enter_context(listener.accept()[0]) for _ in range(nodes)]
        names = [f"node{number}" for number in range(nodes)]
        load = engine.start_on_nodes(
            plan(nodes, seconds, requests),
            [(name, one.fileno()) for name, one in zip(names, sockets, strict=True)],
        )
        row = received(load, nodes, seconds, requests)
        mb = sum(bytes_received(one) for one in sockets) / 1e6
        return replace(row, received_mb_per_s=mb / seconds)


def bytes_received(connection: socket.socket) -> int:
    """Return how many bytes came over a connection."""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, BYTES_RECEIVED_AT + 8)
    (count,) = struct.unpack_from("=Q", info, BYTES_RECEIVED_AT)
    return int(count)


def plan(nodes: int, seconds: int, requests: int) -> Plan:
    """Return a plan of which each node has the same part."""
    # No request is sent to this address.
    source = Source.of(Request("http://127.0.0.1:9/"))
    pace = Open(float(nodes * requests), connections=nodes)
    return Plan(
        groups=(Group(pace=pace, source=source),),
        stop=Duration(1_000_000_000 * seconds),
        warmup_ns=0,
        workers=nodes,
    )


def received(load: engine.Load, nodes: int, seconds: int, requests: int) -> Row:
    """Return what a load costs from its second interval on."""
    late_ms: list[float] = []
    first: tuple[float, float, float] | None = None
    last = (0.0, 0.0, 0.0)
    for interval in engine.intervals(load):
        if interval.phase != "measure":
            continue
        last = (time.monotonic(), time.process_time(), interval.t_s)
        if first is None:
            first = last
        # Relative to the first interval, since when the window began is not known here.
        late_ms.append(1000 * ((last[0] - first[0]) - (last[2] - first[2])))
    if first is None:
        raise SystemExit("no interval came")
    level = engine.level(load)
    least = min(late_ms)
    p50, p99 = np.quantile(np.array(late_ms) - least, [0.5, 0.99])
    return Row(
        nodes,
        (last[1] - first[1]) / (last[0] - first[0]),
        0.0,
        (float(p50), float(p99)),
        level.counts.attempted / (nodes * seconds * requests),
    )


def parse() -> argparse.Namespace:
    """Read the flags."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--nodes", default="10,100,300,1000", help="numbers of nodes")
    # A window of 10 s or more has an interval a second.
    parser.add_argument("--seconds", type=int, default=5, choices=range(1, 10), help="of each")
    parser.add_argument("--requests", type=int, default=1000, help="per second and node")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
