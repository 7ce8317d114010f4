"""How exactly torr knows the clocks of nodes whose offsets are known.

    python benches/nodes/clocks.py [--rounds 10]

The cluster is that of the tests: three namespaces with Ray (`make build/ray/.pins`; needs root),
whose clocks are ahead by 0, 1,000 and 5,000,000 s. Each round is a load of 1 s. The run is kept
beside this file.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from common.host import describe, stamp
from ray_nodes import Nodes

MOST_MS = 0.5
FLAGS = ("--nodes", "all", "-c", "6", "-z", "1s", "--warmup", "0s", "--no-store")
COLUMNS = ("ahead (s)", "error p50 (ms)", "highest error (ms)", "stated bound p50 (ms)", "highest")
HEAD = f"| {' | '.join(COLUMNS)} |\n{'| --: ' * len(COLUMNS)}|\n"


def main() -> int:
    """Measure each clock; return 0 if errors are below their bounds, and these below 0.5 ms."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10, help="how many loads")
    rounds = parser.parse_args().rounds
    found: dict[int, list[tuple[float, float]]] = {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="torr-clocks-")))
        nodes = Nodes(stack, folder)
        target = nodes.target("hello")
        for _ in range(rounds):
            ended = nodes.torr(folder, "run", *FLAGS, target.url)
            if ended.code:
                raise SystemExit(ended.err)
            for node in ended.level["generator"]["nodes"]:
                if clock := node["clock"]:
                    skew_s = nodes.skew_s(node["name"])
                    error_ms = abs(clock["offset_ms"] - 1_000 * skew_s)
                    found.setdefault(skew_s, []).append((error_ms, clock["error_ms"]))
    lines = [line(skew_s, pairs) for skew_s, pairs in sorted(found.items())]
    host = json.dumps(describe(), indent=1)
    text = f"```json\n{host}\n```\n\n```text\ntorr run {' '.join(FLAGS)} URL\n```\n\n"
    text += HEAD + "\n".join(lines) + "\n"
    path = Path(__file__).parent / "runs" / f"{stamp()}-clocks.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    print(f"{text}\nkept: {path}")
    every = [pair for pairs in found.values() for pair in pairs]
    is_good = all(error <= bound <= MOST_MS for error, bound in every)
    return 0 if is_good and len(every) == 2 * rounds else 1


def line(skew_s: int, pairs: list[tuple[float, float]]) -> str:
    """Return the row of a clock."""
    errors, bounds = np.array(pairs).T
    cells = (np.median(errors), errors.max(), np.median(bounds), bounds.max())
    return f"| {skew_s:,} | {' | '.join(f'{cell:.4f}' for cell in cells)} |"


if __name__ == "__main__":
    sys.exit(main())
