"""Read a run's result.json and print its levels: the standard library is enough.

Usage: python examples/read_result.py _output/torr/latest
"""

import json
import sys
from pathlib import Path

directory = Path(sys.argv[1] if len(sys.argv) > 1 else "_output/torr/latest")
result = json.loads((directory / "result.json").read_text())

print(f"{result['name']}: torr {result['kind']}, {result['started'][:10]}, {result['status']}")
print(f"{'users':>6}  {'ok/s':>10}  {'p95 ms':>8}  {'success':>9}  health")
for level in result["levels"]:
    response = level["latency"]["response_ms"] or {}
    p95 = response.get("p95")
    success = level["success_rate"]
    health = level["health"]["verdict"]
    # The target shares the machine: what was measured is the least that it can do.
    rate = ("≥ " if health == "contended" else "") + f"{level['ok_per_s']:,.0f}"
    print(
        f"{level['concurrency']:>6}",
        f"{rate:>10}",
        f"{'–' if p95 is None else format(p95, '.2f'):>8}",
        f"{'–' if success is None else format(success, '.2f') + ' %':>9}",
        health,
        sep="  ",
    )

peak = (result.get("capacity") or {}).get("peak")
if peak:
    at_least = "≥ " if peak["at_least"] else ""
    print(f"peak {at_least}{peak['ok_per_s']:,.0f} ok/s at {peak['highest_at']} connections,")
    print(f"within 5 % of it at {peak['concurrency']} already: run it there")
