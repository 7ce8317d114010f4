"""Run the tests of tiers, or single steps of them, and write how long each step took.

    python scripts/run_tests.py unit component      what `make test` runs
    python scripts/run_tests.py all                 what `make test-full` runs
    python scripts/run_tests.py rust                one step

A tier is a list of steps, and a step is one call of a test runner. Some steps run beside the others
of their tier, which often wait; their output is printed after these. A step that fails does not
stop the others, unless `--stop-early` is given. The times are in build/test-times;
scripts/test_times.py prints them. A step that hangs is ended after an hour.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).parents[1]
TIMES = ROOT / "build" / "test-times"
BYTECODE = ROOT / "build" / "bytecode"
IN_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of its own is made in it
ROOM_BYTES = 4 << 30
LIMIT_S = 60 * 60
CORES = len(os.sched_getaffinity(0))
OLDEST_LOCUST = str(ROOT / "build/locust-oldest/bin/python")


@dataclass(frozen=True)
class Step:
    """One call of a test runner: its arguments, and variables to add to the environment."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    is_beside: bool = False
    """Whether it runs beside the other steps of its tier."""


def pytest(
    name: str,
    folder: str,
    *options: str,
    processes: int,
    python: str = sys.executable,
    is_beside: bool = False,
    **env: str,
) -> Step:
    """Return the step that runs pytest over a folder, in a number of processes.

    Each process begins with neighbouring tests, which share servers and browsers, and takes over
    tests of others when it has none left.
    """
    parallel = ("-n", str(processes), "--dist", "worksteal") if processes > 1 else ()
    report = ("--junitxml", str(TIMES / f"{name}.xml"))
    command = (python, "-m", "pytest", *options, *parallel, *report, folder)
    return Step(name, command, env, is_beside)


def locust(name: str, *, processes: int = CORES, is_beside: bool = False, **settings: str) -> Step:
    """Return the step that runs the Locust scenarios, which need pytest processes of their own."""
    folder = "tests/component/locust"
    options = ("-c", f"{folder}/pytest.ini")
    return pytest(name, folder, *options, processes=processes, is_beside=is_beside, **settings)


# Tests and parameters of the tier `full` have the marker `full`, in whatever folder they are.
WITHOUT_FULL = ("-m", "not full")

# The tests whose examples are drawn, with random ones: `make test` draws the same in each run.
RANDOM = ("tests/unit", "-m", "hypothesis", "--hypothesis-profile", "random")

PAGE = "tests/component/page"

# Component tests wait more than they compute: for sockets, windows of load, other processes. So
# there are twice as many processes as cores. Those of the page share one browser.
TIERS = {
    "unit": (
        # With another PYO3_PYTHON than that of the Makefile, cargo compiles the binding again.
        Step(
            "rust",
            ("cargo", "test", "--workspace", "--no-fail-fast"),
            {"RUST_TEST_THREADS": str(2 * CORES), "PYO3_PYTHON": sys.executable},
            is_beside=True,
        ),
        Step("page", ("npm", "--prefix", "web", "run", "--silent", "test")),
        pytest("pytest-unit", "tests/unit", "tests/golden", *WITHOUT_FULL, processes=CORES),
    ),
    "component": (
        pytest(
            "pytest-component",
            "tests/component",
            *("--ignore", PAGE),
            *WITHOUT_FULL,
            processes=2 * CORES,
        ),
        pytest("pytest-page", PAGE, *WITHOUT_FULL, processes=1, is_beside=True),
        locust("locust", is_beside=True),
    ),
    "full": (
        pytest("pytest-full", "tests", "-m", "full", processes=CORES),
        # pytest-xdist and torr are not installed beside the oldest Locust.
        locust("locust-oldest", processes=1, python=OLDEST_LOCUST, PYTHONPATH="python"),
        pytest("pytest-random", *RANDOM, processes=CORES),
        Step("fuzz", ("scripts/fuzz.sh",)),
        Step("fuzz-python", ("scripts/fuzz-python.sh", "20000")),
        Step("soak", (sys.executable, "benches/truth/run.py", "--only", "soak", "--quick")),
        Step("studies", ("make", "SHORT=1", "study-litefs", "study-proxy", "study-healthz")),
    ),
}


def main() -> int:
    """Run the selected steps; return 1 if one failed."""
    options = arguments()
    # A shell starts background jobs with SIGINT ignored; tests send SIGINT to processes they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    TIMES.mkdir(parents=True, exist_ok=True)
    failed = []
    with temporary_folder():
        for tier, tier_steps in selected(options.names).items():
            failed += failures(tier, tier_steps, stop_early=options.stop_early)
            if failed and options.stop_early:
                break
    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


@contextmanager
def temporary_folder() -> Iterator[None]:
    """Keep temporary files in memory, if there is room: tests sync thousands of files to disk."""
    if "TMPDIR" in os.environ or not has_room(IN_MEMORY):
        yield
        return
    with TemporaryDirectory(prefix="torr-tests-", dir=IN_MEMORY) as folder:
        # PostgreSQL, which does not run as root, has a folder of its own in it.
        Path(folder).chmod(0o755)
        os.environ["TMPDIR"] = folder
        yield


def has_room(folder: Path) -> bool:
    """Return whether a folder exists and has room for the files of all tests."""
    try:
        return shutil.disk_usage(folder).free >= ROOM_BYTES and os.access(folder, os.W_OK)
    except OSError:
        return False


def arguments() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    names = [*TIERS, *(step.name for tier in TIERS.values() for step in tier), "all"]
    parser.add_argument(
        "names", nargs="+", choices=names, metavar="NAME", help=f"one of {', '.join(names)}"
    )
    parser.add_argument("--stop-early", action="store_true", help="end at the first failure")
    return parser.parse_args()


def selected(names: Sequence[str]) -> dict[str, list[Step]]:
    """Return the steps of these names by tier, in the order of the tiers."""
    chosen = set(names)
    return {
        tier: [step for step in tier_steps if {"all", tier, step.name} & chosen]
        for tier, tier_steps in TIERS.items()
    }


def failures(tier: str, tier_steps: Sequence[Step], *, stop_early: bool) -> list[str]:
    """Run steps of a tier; return the names of those that failed."""
    beside = [step for step in tier_steps if step.is_beside]
    failed = []
    with ThreadPoolExecutor() as threads:
        running = [
            (step, threads.submit(passed, tier, step, stop_early=stop_early, is_quiet=True))
            for step in beside
        ]
        for step in tier_steps:
            if step not in beside and not passed(tier, step, stop_early=stop_early):
                failed.append(step.name)
                if stop_early:
                    break
        for step, has_passed in running:
            if not has_passed.result():
                failed.append(step.name)
            print(f"\n== {tier}: {step.name}", flush=True)
            sys.stdout.write(output_of(step).read_text(encoding="utf-8", errors="replace"))
            sys.stdout.flush()
    return failed


def passed(tier: str, step: Step, *, stop_early: bool, is_quiet: bool = False) -> bool:
    """Run one step, write its time, and return whether it passed."""
    command = with_stop_early(step.command) if stop_early else list(step.command)
    environment = {**os.environ, **step.environment, "PYTHONPYCACHEPREFIX": str(BYTECODE)}
    # Without cached bytecode, compiling torr's source is half of the processor time of each `torr`
    # that a test starts.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    for path in (times_of(step), TIMES / f"{step.name}.xml"):  # of an earlier run
        path.unlink(missing_ok=True)
    start_s = time.monotonic()
    with ExitStack() as stack:
        output = None
        if is_quiet:
            output = stack.enter_context(output_of(step).open("wb"))
        else:
            print(f"\n== {tier}: {step.name}", flush=True)
        code = call(command, environment, output)
    seconds = round(time.monotonic() - start_s, 1)
    record = {"tier": tier, "step": step.name, "seconds": seconds}
    times_of(step).write_text(json.dumps(record), encoding="utf-8")
    return code == 0


def with_stop_early(command: Sequence[str]) -> list[str]:
    """Return the command that ends at its first failed test."""
    ends = ["--exitfirst"] if "pytest" in command else []
    return [*(word for word in command if word != "--no-fail-fast"), *ends]


def call(command: list[str], environment: dict[str, str], output: IO[bytes] | None) -> int:
    """Run a command in the root folder; return its exit code, or 1 if it hangs."""
    stderr = subprocess.STDOUT if output else None
    try:
        return subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=stderr,
            timeout=LIMIT_S,
            check=False,
        ).returncode
    except subprocess.TimeoutExpired as error:
        print(error, file=sys.stderr)
        return 1


def times_of(step: Step) -> Path:
    """Return where the time of a step goes."""
    return TIMES / f"{step.name}.json"


def output_of(step: Step) -> Path:
    """Return where the output of a step goes that runs beside others."""
    return TIMES / f"{step.name}.log"


if __name__ == "__main__":
    sys.exit(main())
