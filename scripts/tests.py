"""Run the tests of tiers, or single steps of them, and keep how long each step took.

    python scripts/tests.py unit component      what `make test` runs
    python scripts/tests.py all                 what `make test-full` runs
    python scripts/tests.py rust                one step

A tier is a list of steps, and a step is one test runner. All steps run, also after one that failed,
unless `--stop-early` is given. scripts/test_times.py shows the times, kept in build/test-times.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
TIMES = ROOT / "build" / "test-times"
BYTECODE = ROOT / "build" / "bytecode"
CORES = len(os.sched_getaffinity(0))
OLDEST_LOCUST = str(ROOT / "build/locust-oldest/bin/python")


@dataclass(frozen=True)
class Step:
    """One test runner: its arguments, and what it is given besides the environment."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)


def pytest(
    name: str, folder: str, *options: str, processes: int, python: str = sys.executable, **more: str
) -> Step:
    """Return the step that runs pytest over a folder, in so many processes."""
    parallel = ("-n", str(processes)) if processes > 1 else ()
    report = ("--junitxml", str(TIMES / f"{name}.xml"))
    return Step(name, (python, "-m", "pytest", *options, *parallel, *report, folder), more)


def locust(name: str, *, processes: int = CORES, **settings: str) -> Step:
    """Return the step that plays Locust's scenarios; Locust needs a process of its own."""
    folder = "tests/component/locust"
    options = ("-c", f"{folder}/pytest.ini")
    return pytest(name, folder, *options, processes=processes, **settings)


# What belongs to the tier `full` says so by a marker, wherever it is.
QUICK = ("-m", "not full")

# Component tests wait more than they compute: sockets, windows of load, other processes.
TIERS = {
    "unit": (
        Step("rust", ("cargo", "test", "--workspace"), {"RUST_TEST_THREADS": str(2 * CORES)}),
        Step("page", ("npm", "--prefix", "web", "run", "--silent", "test")),
        pytest("pytest-unit", "tests/unit", *QUICK, processes=CORES),
    ),
    "component": (
        pytest("pytest-component", "tests/component", *QUICK, processes=2 * CORES),
        locust("locust"),
    ),
    "full": (
        pytest("pytest-full", "tests", "-m", "full", processes=CORES),
        locust("locust-oldest", processes=1, python=OLDEST_LOCUST, PYTHONPATH="python"),
        Step("fuzz", ("scripts/fuzz.sh",)),
        Step("soak", (sys.executable, "benches/truth/run.py", "--only", "soak", "--quick")),
        Step("studies", ("make", "SHORT=1", "study-litefs", "study-proxy", "study-healthz")),
    ),
}


def main() -> int:
    """Run the steps that were asked for; 1 when one failed."""
    asked = arguments()
    # A shell starts background jobs with SIGINT ignored, and tests send it to what they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    TIMES.mkdir(parents=True, exist_ok=True)
    failed = []
    for tier, step in steps(asked.names):
        if not passed(tier, step, stop_early=asked.stop_early):
            failed.append(step.name)
            if asked.stop_early:
                break
    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def arguments() -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    names = [*TIERS, *(step.name for tier in TIERS.values() for step in tier), "all"]
    parser.add_argument("names", nargs="+", choices=names, metavar="NAME", help="a tier or a step")
    parser.add_argument("--stop-early", action="store_true", help="end at the first failure")
    return parser.parse_args()


def steps(names: Sequence[str]) -> Iterator[tuple[str, Step]]:
    """Return the steps of these names, each with its tier, in the order of the tiers."""
    for tier, its_steps in TIERS.items():
        for step in its_steps:
            if {"all", tier, step.name} & set(names):
                yield tier, step


def passed(tier: str, step: Step, *, stop_early: bool) -> bool:
    """Run one step, keep its time, and return whether it passed."""
    print(f"\n== {tier}: {step.name}", flush=True)
    is_pytest = "pytest" in step.command
    command = [*step.command, "--exitfirst"] if stop_early and is_pytest else list(step.command)
    environment = {**os.environ, **step.environment, "PYTHONPYCACHEPREFIX": str(BYTECODE)}
    # Compiling torr's source again is half of the processor time of each `torr` that a test starts.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    began = time.monotonic()
    ended = subprocess.run(command, cwd=ROOT, env=environment, check=False)
    seconds = round(time.monotonic() - began, 1)
    kept = {"tier": tier, "step": step.name, "seconds": seconds}
    (TIMES / f"{step.name}.json").write_text(json.dumps(kept), encoding="utf-8")
    return ended.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
