"""How long torr takes to say something, and to send something."""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING

from common.firstbyte import seconds_to_first_byte
from versus.bars import Limit, judge
from versus.places import TORR, scratch
from versus.row import Measured, Plan

if TYPE_CHECKING:
    from common.nginx import Nginx

HELP = Limit(0.3, "s")
FIRST_REQUEST = Limit(0.6, "s")
ONE = ("-c", "1", "--requests", "1", "--warmup", "0s")


def measure(nginx: Nginx, plan: Plan) -> Measured:
    """Seconds of `torr --help`, and from the start to the first byte of the first request."""
    del nginx
    rounds = max(plan.rounds, 3)
    helped = []
    for _ in range(rounds):
        started = time.perf_counter()
        subprocess.run([TORR, "--help"], check=True, capture_output=True)
        helped.append(time.perf_counter() - started)
    words = [TORR, "run", "{url}", *ONE, "-d", str(scratch())]
    first = [seconds_to_first_byte(words) for _ in range(rounds)]
    bars = [
        judge("torr --help", helped, HELP),
        judge("first byte of the first request", first, FIRST_REQUEST),
    ]
    pairs = enumerate(zip(helped, first, strict=True))
    return Measured(
        bars, [{"round": number, "help_s": a, "first_s": b} for number, (a, b) in pairs]
    )
