"""torr against what is known: latencies that a target logs itself, a target that freezes, arrivals.

    python benches/truth/run.py [--rounds 5] [--quick] [--only ROW,ROW]

The target runs on one core, torr on another; each round is a run of its own, and a row is judged
by the median of its rounds. The run is kept beside this file after each row, unless it was quick.
Machines that steal time fail rows honestly: the share of stolen time stands beside each. All of it
takes two hours: a half the soak, three quarters the comparisons (`--only compare`).
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common.host import describe, stamp
from common.store import keep_none
from common.table import keep, line
from truth.row import measured
from truth.rows import ROWS


def main() -> int:
    """Measures every row; 0 if each is within its bar."""
    options = parse()
    keep_none()
    kept: dict[str, Any] = {"host": describe(), "rounds": options.rounds, "rows": []}
    place = Path(__file__).parent / "runs" / f"{stamp()}.json"
    for row in ROWS:
        if options.only and not any(row.name.startswith(name) for name in options.only):
            continue
        found = measured(row, options.rounds, options.seconds)
        kept["rows"].append(asdict(found))
        print(line(asdict(found)), flush=True)
        if not options.quick:
            keep(kept, place, "known")
    if not kept["rows"]:
        print(f"no such row; there are: {', '.join(row.name for row in ROWS)}")
        return 2
    if not options.quick:
        print(f"\nkept: {place}")
    return 0 if all(row["within"] for row in kept["rows"]) else 1


def parse() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument(
        "--only",
        type=lambda text: text.split(","),
        default=[],
        help="rows by how their names begin",
    )
    parser.add_argument("--quick", action="store_true", help="one round of three seconds, not kept")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds = 1, 3
    return options


if __name__ == "__main__":
    sys.exit(main())
