"""torr against what is known: latencies that a target logs itself, a target that freezes, arrivals.

    python benches/truth/run.py [--rounds 5] [--minutes 30] [--quick] [--only ROW,ROW]

The target runs on one core, torr on another; each round is a run of its own, and a row is judged
by the median of its rounds. The run is kept beside this file after each row, unless it was quick.
Machines that steal time fail rows honestly: the share of stolen time stands beside each. All of it
takes three hours: one the soaks, and one the comparisons (`--only compare`).
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common import rows
from truth.row import measured
from truth.rows import all_rows


def main() -> int:
    """Measures every row; 1 if one is beyond its bar."""
    parser = rows.parser(__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--minutes", type=int, default=30, help="length of each soak")
    parser.add_argument("--quick", action="store_true", help="one round of three seconds, not kept")
    options = parser.parse_args()
    count, seconds = (1, 3) if options.quick else (options.rounds, options.seconds)
    return rows.measure(
        rows.chosen(all_rows(options.minutes), options.only),
        lambda row: measured(row, count, seconds),
        {"rounds": count, "soak_minutes": options.minutes},
        None if options.quick else Path(__file__).parent / "runs",
        "known",
    )


if __name__ == "__main__":
    sys.exit(main())
