"""Print the slowest tests, the sum of each folder and the wall time of each tier.

    python scripts/test_times.py             print these
    python scripts/test_times.py --check     exit code 1 if a tier exceeded its budget by over 30 %,
                                             2 if a step has not run

It reads the seconds of each step and pytest's JUnit files, which scripts/run_tests.py writes into
build/test-times. They are those of the last run of each step, which may be different runs. Tests
run in parallel, so the sum of a folder is more than its wall time. Rust's tests and those of the
page are in the wall times of their steps only.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from typing import Any
from xml.etree import ElementTree as ET

from run_tests import TIERS, TIMES, times_of

SLOWEST = 30
ALLOWED = 1.3
# Seconds of wall time on two cores, without compiling. CONTRIBUTING.md has them in minutes.
BUDGETS_S = {"unit": 150, "component": 210, "full": 2100}


def main() -> int:
    """Print the times; return 1 if they are checked and a tier took too long."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail if a tier exceeds its budget")
    is_checked = parser.parse_args().check
    steps = step_times()
    missing = [step.name for tier in TIERS.values() for step in tier if step.name not in steps]
    if not steps or (is_checked and missing):
        print(f"no times of {', '.join(missing)} in build/test-times", file=sys.stderr)
        return 2
    tests = [test for step in steps for test in tests_of(step)]
    print_slowest(tests)
    print_folders(tests)
    exceeded = print_tiers(steps)
    return 1 if is_checked and exceeded else 0


def step_times() -> dict[str, dict[str, Any]]:
    """Return the times that scripts/run_tests.py wrote by step, in the order of the tiers."""
    steps = [step for tier in TIERS.values() for step in tier if times_of(step).exists()]
    return {step.name: json.loads(times_of(step).read_text(encoding="utf-8")) for step in steps}


def tests_of(step: str) -> list[tuple[float, str]]:
    """Return the seconds and the name of each test that pytest ran in a step."""
    path = TIMES / f"{step}.xml"
    if not path.exists():
        return []
    # The root of the Locust scenarios is their folder, which their names lack.
    root = f"tests.component.{step}." if step.startswith("locust") else ""
    # The file is trusted: pytest wrote it for scripts/run_tests.py.
    cases = ET.parse(path).getroot().iter("testcase")  # noqa: S314
    return [
        (float(case.get("time", 0)), f"{root}{case.get('classname')}.{case.get('name')}")
        for case in cases
    ]


def print_slowest(tests: list[tuple[float, str]]) -> None:
    """Print the tests that took longest."""
    print(f"the {SLOWEST} slowest tests")
    for seconds, name in sorted(tests, reverse=True)[:SLOWEST]:
        print(f"{seconds:8.1f} s  {name}")


def print_folders(tests: list[tuple[float, str]]) -> None:
    """Print the sum of the seconds of each folder's tests."""
    sums: dict[str, float] = defaultdict(float)
    for seconds, name in tests:
        modules = name.partition("[")[0].split(".")[:-1]
        sums["/".join(part for part in modules if not part.startswith("test_"))] += seconds
    print("\nthe sum of each folder")
    for folder, seconds in sorted(sums.items(), key=lambda item: -item[1]):
        print(f"{seconds:8.1f} s  {folder}")


def wall_time(tier: str, times: dict[str, float]) -> float:
    """Return the seconds of a tier: of steps one after another, or of one beside them if longer."""
    beside = {step.name for step in TIERS[tier] if step.is_beside}
    in_order = sum(seconds for name, seconds in times.items() if name not in beside)
    return max(in_order, *(times[name] for name in beside & times.keys()), 0.0)


def print_tiers(steps: dict[str, dict[str, Any]]) -> list[str]:
    """Print the wall time of each step and tier; return the tiers that exceeded their budgets."""
    exceeded = []
    print("\nwall time")
    for tier, budget in BUDGETS_S.items():
        times = {step["step"]: step["seconds"] for step in steps.values() if step["tier"] == tier}
        if not times:
            continue
        total = wall_time(tier, times)
        parts = ", ".join(f"{name} {seconds:.0f}" for name, seconds in times.items())
        is_over = total > ALLOWED * budget
        note = f"  OVER: more than {ALLOWED:.0%} of its budget" if is_over else ""
        print(f"{total:8.1f} s  {tier}, budget {budget} s ({parts}){note}")
        if is_over:
            exceeded.append(tier)
    return exceeded


if __name__ == "__main__":
    sys.exit(main())
