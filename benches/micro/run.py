"""The bars of measuring functions in one process: overhead, agreement, comparisons, leaks, starts.

    python benches/micro/run.py [--quick] [--only ROW,ROW]

All of it takes less than ten minutes and wants a core of its own (`taskset -c 1`). The run is kept
beside this file after each row, unless it was quick. Other tools are those that
`scripts/bench-tools.sh --python pytest-benchmark pyperf` installs; where one is missing, its row
says so. The load average and the share of stolen time stand beside each row.
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
from micro.row import FULL, QUICK, measured
from micro.rows import ROWS


def main() -> int:
    """Measures every row; 1 if one is beyond its bar."""
    options = parse()
    keep_none()
    effort = QUICK if options.quick else FULL
    kept: dict[str, Any] = {"host": describe(), "effort": asdict(effort), "rows": []}
    place = Path(__file__).parent / "runs" / f"{stamp()}.json"
    for row in ROWS:
        if options.only and not any(row.name.startswith(name) for name in options.only):
            continue
        kept["rows"].append(asdict(measured(row, effort)))
        print(line(kept["rows"][-1]), flush=True)
        if not options.quick:
            keep(kept, place, "row")
    if not kept["rows"]:
        print(f"no such row; there are: {', '.join(row.name for row in ROWS)}")
        return 2
    if not options.quick:
        print(f"\nkept: {place}")
    return 1 if any(row["within"] is False for row in kept["rows"]) else 0


def parse() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--only",
        type=lambda text: text.split(","),
        default=[],
        help="rows by how their names begin",
    )
    parser.add_argument("--quick", action="store_true", help="a little of each row, not kept")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
