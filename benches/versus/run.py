"""torr against other tools, interleaved, on one client core; the run is kept beside this file.

    python benches/versus/run.py [--rounds 7] [--seconds 3] [--only small-64,16k] [--quick]

Client on one core, nginx on another, the tools in turn within each round (order reversed in every
second one). The figure is the client's processor time per request (user + sys); machines drift, so
only ratios within a round are judged, by their median, and their spread is shown.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common.host import describe, stamp
from common.nginx import Nginx
from common.store import keep_none
from versus import report, rows, tools
from versus.places import ROOT, RUNS
from versus.row import Measured, Plan, Row

QUICK_TOOLS = ("torr", "bare", "wrk")
QUICK_ROWS = ("small-64", "small-1000", "64k-64", "tls-small-64", "memory", "startup")


def main() -> int:
    """Measures the chosen rows; 0 if every bar was measured and holds."""
    options = parse()
    keep_none()
    plan = Plan(options.rounds, options.seconds, options.tools)
    kept: dict[str, Any] = {
        "host": describe(),
        "rounds": plan.rounds,
        "seconds": plan.seconds,
        "versions": tools.versions(),
        "left_out": tools.left_out(),
        "rows": [],
    }
    path = RUNS / f"{stamp()}.json"
    with Nginx(core=1) as nginx:
        for row in rows.chosen(options.only):
            started = time.monotonic()
            measured = row.measure(nginx, plan)
            kept["rows"].append(entry(row, measured, time.monotonic() - started))
            print(report.row(kept["rows"][-1]), flush=True)
            # A run that is stopped keeps what it has.
            path.write_text(json.dumps(kept, indent=1))
    path.with_suffix(".md").write_text(report.page(kept))
    print(f"\n{report.summary(kept)}\nkept: {path.relative_to(ROOT)}")
    held = all(bar["held"] for row in kept["rows"] for bar in row["bars"])
    return 0 if held and not report.not_measured(kept) else 1


def entry(row: Row, measured: Measured, took_s: float) -> dict[str, Any]:
    """A row as it is kept."""
    return {
        "name": row.name,
        "about": row.about,
        "took_s": round(took_s, 1),
        "bars": [bar.kept() for bar in measured.bars],
        "left_out": measured.left_out,
        "shots": measured.shots,
    }


def parse() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words: dict[str, Any] = {"type": lambda text: tuple(text.split(",")), "default": ()}
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=3, help="of a shot")
    parser.add_argument("--only", **words, help="rows, by the beginning of their names")
    parser.add_argument("--tools", **words, help="tools, by name")
    parser.add_argument(
        "--quick", action="store_true", help="a minute: some rows, two rounds, torr and wrk"
    )
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds = 2, 1
        options.tools = options.tools or QUICK_TOOLS
        options.only = options.only or QUICK_ROWS
    return options


if __name__ == "__main__":
    sys.exit(main())
