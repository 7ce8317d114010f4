"""Users with think times by the engine alone; prints the level in the form of `torr run -o json`.

    python benches/truth/engine_alone.py URL USERS SECONDS

Intervals are dropped, and there is no monitor, whose samples `torr run` collects for 20 minutes:
what grows here is the engine's.
"""

from __future__ import annotations

import json
import sys

from torr import engine
from torr.model.pace import Closed, Think
from torr.model.plan import Duration, Group, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.units import SECOND_NS


def main() -> None:
    """Run the load."""
    url, users, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    think = Think.parse("10ms-30ms")
    group = Group(Closed(users), Source.of(Request(url)), think=think)
    load = engine.start(Plan((group,), Duration(seconds * SECOND_NS)))
    for _ in engine.intervals(load):
        pass
    print(json.dumps({"levels": [json.loads(load.level())]}))


if __name__ == "__main__":
    main()
