"""torr against other tools, interleaved, on one client core; the run is kept beside this file.

    python benches/versus/run.py [--rounds 7] [--seconds 5] [--only small-64,16k] [--quick]

Client on one core, nginx on another, the tools in turn within each round (order reversed in every
second one). The figure is the client's processor time per request (user + sys); machines drift, so
only the ratio within a round is compared, and its median and spread are shown.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common.host import describe, stamp
from common.nginx import Nginx

from versus import figures, tools
from versus.report import table


def main() -> int:
    """Measures the chosen figures; 0 if each meets its bar."""
    options = parse()
    kept = {"host": describe(), "rounds": options.rounds, "seconds": options.seconds, "figures": []}
    with Nginx(core=1) as nginx:
        for figure in figures.chosen(options.only):
            result = figures.measure(figure, nginx, options.rounds, options.seconds)
            kept["figures"].append(asdict(result))
            print(table([asdict(result)]), flush=True)
    path = Path(__file__).parent / "runs" / f"{stamp()}.json"
    text = table(kept["figures"])
    path.write_text(json.dumps(kept, indent=1))
    path.with_suffix(".md").write_text(f"{tools.versions()}\n\n{text}\n")
    print(f"\n{text}\n\nkept: {path}")
    return 0 if all(figure["within"] for figure in kept["figures"]) else 1


def parse() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    parser.add_argument("--quick", action="store_true", help="two rounds of two seconds")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds = 2, 2
    return options


if __name__ == "__main__":
    sys.exit(main())
