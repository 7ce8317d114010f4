"""Run the tests on a copy of torr with one fault at a time, and print which test caught it.

    python scripts/mutants.py [--tier unit] [--only NAME ...]
    python scripts/mutants.py --list

A mutant is a patch tests/mutants/AREA-WHAT.patch, whose first line says what it breaks. Patches are
applied to a clone of the current commit, build/mutants, never to the checkout, which must have no
uncommitted changes. The steps of scripts/run_tests.py run there, first without a patch: if they
fail, every mutant would count as caught, and none is run. build/mutants.json has the results of the
last commit and its tiers, build/mutants-logs the output of each mutant. The exit code is 0 when all
mutants ran, caught or not, 1 when a patch did not apply or build, and 2 when nothing could run.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from run_tests import TIERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).parents[1]
PATCHES = ROOT / "tests" / "mutants"
LOGS = ROOT / "build" / "mutants-logs"
LOCK = ROOT / "build" / "mutants.lock"
RESULTS = ROOT / "build" / "mutants.json"
LIMIT_S = 10 * 60
"""The shortest time limit of tests: a mutant may make them hang."""
LIMIT_RATIO = 4
"""The time limit of tests with a mutant, relative to their time without one."""
BUILD_LIMIT_S = 40 * 60
"""The time limit of a build, and of the tests without a mutant, which are compiled before."""
MARK = "TORR_MUTANT"
"""The environment variable by which processes that a command left running are found."""
UNCHANGED = "no-mutant"
NOT_BUILT = -1
NOT_CAUGHT, BROKEN, NOT_APPLIED = "NOT CAUGHT", "BROKEN PATCH", "PATCH DOES NOT APPLY"

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
# A failed test in the output of pytest, cargo or vitest. A file of tests that cannot be imported is
# none: the patch is broken, as one that does not compile.
_FAILED = re.compile(
    r"^(?:(?:FAILED|ERROR) (\S+?\.py::[^\s\[]+(?:\[.*?\](?= - |$))?)(?: - .*)?"
    r"|test (.+) \.\.\. FAILED|---- (.+) stdout ----|\s*FAIL\s+(\S+\.ts.*?))\s*$",
    re.MULTILINE,
)


_NOT_COMPILED = re.compile(r"could not compile|^ERROR \S+\.py( - |$)", re.MULTILINE)


class RefusalError(Exception):
    """Nothing can run; the message says why."""


def mutants(names: Sequence[str] = ()) -> dict[str, Path]:
    """Return the patches of these names, or all patches; raise RefusalError for an unknown name."""
    patches = {path.stem: path for path in sorted(PATCHES.glob("*.patch"))}
    unknown = sorted(set(names) - set(patches))
    if unknown:
        raise RefusalError(f"there is no mutant {', '.join(unknown)}: --list prints the names")
    return {name: path for name, path in patches.items() if not names or name in names}


def first_failure(output: str) -> str | None:
    """Return the first failed test in the output of pytest, cargo or vitest, if any."""
    match = _FAILED.search(_COLOURS.sub("", output))
    return None if match is None else next(name for name in match.groups() if name)


@contextmanager
def locked_clone() -> Iterator[None]:
    """Lock the clone; raise RefusalError if another run of this script uses it."""
    with LOCK.open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RefusalError("another run of mutants uses the clone: wait for its end") from error
        yield


class Clone:
    """A clone of the current commit, in which patches are applied, built and tested."""

    def __init__(self, folder: Path, tiers: Sequence[str]) -> None:
        """Make the clone, or check the current commit out in it; raise RefusalError on failure."""
        if _git(ROOT, "status", "--porcelain"):
            raise RefusalError("the checkout has uncommitted changes: commit or stash them")
        self.commit = _git(ROOT, "rev-parse", "HEAD")
        self._folder, self._tiers = folder, tiers
        self.limit_s: float = BUILD_LIMIT_S
        if not (folder / ".git").exists():
            _git(ROOT, "clone", "--quiet", "--shared", "--no-checkout", ".", str(folder))
        _git(folder, "fetch", "--quiet", str(ROOT), "HEAD")
        _git(folder, "checkout", "--quiet", "--force", "--detach", self.commit)

    def verdict(self, name: str, patch: Path | None) -> str:
        """Build and test the commit, with a patch if there is one; return which test failed."""
        log = LOGS / f"{name}.log"
        try:
            with log.open("wb") as output:
                if patch is not None and self._call(["git", "apply", "-p1", str(patch)], output):
                    return NOT_APPLIED
                code = self._tested(output, patch)
        finally:
            _git(self._folder, "checkout", "--quiet", "--", ".")
        if code == 0:
            return NOT_CAUGHT
        log_text = log.read_text(encoding="utf-8", errors="replace")
        test = first_failure(log_text)
        if test is None and (code == NOT_BUILT or _NOT_COMPILED.search(log_text)):
            return BROKEN
        if code is None:
            return "caught by time limit"
        return f"caught by {test or f'exit code {code}: see {log.name}'}"

    def _tested(self, output: IO[bytes], patch: Path | None) -> int | None:
        """Run the tests, first the step nearest to the patch; return the exit code of a failure."""
        nearest = _nearest_step(patch)
        is_chosen = nearest in self._tiers or any(
            step.name == nearest for tier in self._tiers for step in TIERS.get(tier, ())
        )
        first = [nearest] if nearest and is_chosen else []
        if first == ["rust"]:  # before `make build`, which these tests do not need
            code = self._test(first, output)
            if code != 0:
                return code
            first = []
        if self._call(["make", "build"], output, BUILD_LIMIT_S) != 0:
            return NOT_BUILT
        for names in (first, self._tiers):
            code = self._test(names, output) if names else 0
            if code != 0:
                return code
        return 0

    def _test(self, names: Sequence[str], output: IO[bytes]) -> int | None:
        command = [".venv/bin/python", "scripts/run_tests.py", "--stop-early", *names]
        return self._call(command, output, self.limit_s)

    def _call(
        self, command: Sequence[str], output: IO[bytes], limit_s: float = LIMIT_S
    ) -> int | None:
        """Run a command in the clone; return its exit code, or None at the time limit."""
        mark = f"{os.getpid()}-{time.monotonic_ns()}"
        process = subprocess.Popen(
            command,
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, MARK: mark},
            start_new_session=True,
        )
        try:
            return process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _kill_marked(mark)
            process.wait()


def _nearest_step(patch: Path | None) -> str | None:
    """Return the step of scripts/run_tests.py for the language of the patch, if there is one."""
    text = "" if patch is None else patch.read_text(encoding="utf-8")
    steps = {"crates": "rust", "web": "page", "python": "pytest-unit"}
    return next((step for root, step in steps.items() if f"diff --git a/{root}/" in text), None)


def _kill_marked(mark: str) -> None:
    """Kill all processes with the mark: a fault may keep tests from stopping their processes."""
    while processes := _marked(mark):
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def _marked(mark: str) -> list[int]:
    """Return the processes that were started with the mark, and have not ended."""
    variable = f"{MARK}={mark}".encode()
    processes = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # A zombie's environment is empty.
            if variable in path.read_bytes().split(b"\0"):
                processes.append(int(path.parent.name))
    return processes


def _git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *words]
    process = subprocess.run(command, check=False, capture_output=True, text=True)
    if process.returncode != 0:
        raise RefusalError(f"{' '.join(command)}: {process.stderr.strip()}")
    return process.stdout.strip()


class Results:
    """The verdicts of one commit and its tiers, written to a file after each mutant."""

    def __init__(self, commit: str, tiers: Sequence[str], folder: Path) -> None:
        """Read the verdicts of the file, if they are of this commit, these tiers and this clone."""
        self._about = {"commit": commit, "tiers": list(tiers), "clone": str(folder)}
        self.verdicts: dict[str, dict[str, Any]] = {}
        with suppress(FileNotFoundError):
            content = json.loads(RESULTS.read_text(encoding="utf-8"))
            if self._about.items() <= content.items():
                self.verdicts = content["verdicts"]

    def has_passed(self, name: str) -> bool:
        """Return whether all tests passed with the mutant of this name."""
        return self.verdicts.get(name, {}).get("verdict") == NOT_CAUGHT

    def seconds(self, name: str) -> float:
        """Return how long the build and the tests of a mutant took."""
        return float(self.verdicts[name]["seconds"])

    def run(self, clone: Clone, name: str, patch: Path | None = None) -> str:
        """Run a mutant, write its verdict to the file and return it."""
        start_s = time.monotonic()
        verdict = clone.verdict(name, patch)
        seconds = round(time.monotonic() - start_s, 1)
        self.verdicts[name] = {"verdict": verdict, "seconds": seconds}
        draft = RESULTS.with_suffix(".tmp")
        content = {**self._about, "areas": self.areas(), "verdicts": self.verdicts}
        draft.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        draft.replace(RESULTS)
        print(f"{name}: {verdict} ({seconds:.0f} s)", flush=True)
        return verdict

    def areas(self) -> dict[str, tuple[int, int]]:
        """Return (caught, total) of the mutants of each area, and of `all` at the end."""
        total: Counter[str] = Counter()
        caught: Counter[str] = Counter()
        for name in sorted(set(self.verdicts) - {UNCHANGED}):
            area = name.partition("-")[0]
            total[area] += 1
            caught[area] += self.verdicts[name]["verdict"].startswith("caught")
        by_area = {area: (caught[area], count) for area, count in total.items()}
        return {**by_area, "all": (caught.total(), total.total())}


def main() -> int:
    """Run the mutants of the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--tier", nargs="+", default=["unit", "component"], help="tiers or steps, but not full"
    )
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="run these mutants")
    parser.add_argument("--list", action="store_true", help="print names and first lines")
    parser.add_argument("--clone", type=Path, default=ROOT / "build" / "mutants", metavar="DIR")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        chosen = mutants(options.only)
        if options.list:
            for name, path in chosen.items():
                print(f"{name}: {path.read_text(encoding='utf-8').splitlines()[0]}")
            return 0
        LOGS.mkdir(parents=True, exist_ok=True)
        with locked_clone():
            return run(chosen, options.clone.resolve(), options.tier)
    except RefusalError as error:
        print(f"mutants: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def run(chosen: dict[str, Path], folder: Path, tiers: Sequence[str]) -> int:
    """Run mutants and print the table of areas; return 1 if a patch did not apply or build."""
    clone = Clone(folder, tiers)
    results = Results(clone.commit, tiers, folder)
    try:
        if not results.has_passed(UNCHANGED) and results.run(clone, UNCHANGED) != NOT_CAUGHT:
            raise RefusalError(f"the tests do not pass without a mutant: see {LOGS}")
        clone.limit_s = max(LIMIT_S, LIMIT_RATIO * results.seconds(UNCHANGED))
        verdicts = {results.run(clone, name, path) for name, path in chosen.items()}
        return 1 if verdicts & {BROKEN, NOT_APPLIED} else 0
    finally:
        for area, (caught, total) in results.areas().items():
            line = f"{caught} of {total}"
            print(f"{line} caught" if area == "all" else f"{area:<10} {line}")


if __name__ == "__main__":
    sys.exit(main())
