"""Random plans in random worlds on the simulated clock, many more of them than a test tries."""

from __future__ import annotations

import os
import re
import subprocess

from truth.row import Round, Value

BAR = "10,000 of 10,000 balance and agree with the target's count"

_PLANS = 10_000


def measure(_seconds: int) -> Round:
    """How many of the plans hold what all of them must."""
    tests = ["cargo", "test", "--release", "--quiet", "-p", "engine", "--test", "simulated"]
    command = [*tests, "random_plans_balance"]
    settings = {**os.environ, "TORR_PLANS": str(_PLANS)}
    done = subprocess.run(command, env=settings, check=False, capture_output=True, text=True)
    case = re.search(r"case (\d+)", done.stdout + done.stderr)
    held = _PLANS if done.returncode == 0 else int(case[1]) - 1 if case else 0
    return Round({"plans": Value(held, _PLANS, 0)})
