"""The bars of measuring functions in one process: overhead, agreement, comparisons, leaks, starts.

    python benches/micro/run.py [--quick] [--only ROW,ROW]

All of it takes less than ten minutes and wants a core of its own (`taskset -c 1`). The run is kept
beside this file after each row, unless it was quick. Other tools are those that
`scripts/bench-tools.sh --python pytest-benchmark pyperf` installs; where one is missing, its row
says so. The load average and the share of stolen time stand beside each row.
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common import rows
from micro.row import FULL, QUICK, measured
from micro.rows import ROWS


def main() -> int:
    """Measures every row; 1 if one is beyond its bar."""
    parser = rows.parser(__doc__)
    parser.add_argument("--quick", action="store_true", help="a little of each row, not kept")
    options = parser.parse_args()
    effort = QUICK if options.quick else FULL
    return rows.measure(
        rows.chosen(ROWS, options.only),
        lambda row: measured(row, effort),
        {"effort": asdict(effort)},
        None if options.quick else Path(__file__).parent / "runs",
        "row",
    )


if __name__ == "__main__":
    sys.exit(main())
