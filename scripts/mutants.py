"""Run the tests on copies of torr with one fault each, and say which test caught each fault.

    python scripts/mutants.py [--tier unit] [--only NAME ...]

A mutant is a patch tests/mutants/AREA-WHAT.patch, whose first line says what it breaks. Patches are
applied to a clone of the current commit, never to the checkout, which must have no other changes.
The tests, those of scripts/tests.py, must pass in the clone without a patch: else every mutant
would count as caught. Results are in build/mutants.json, which keeps those of the same commit and
tiers, and the whole output of each mutant is in build/mutants-logs. The exit code is 0 when all
mutants ran, 1 when a patch did not apply or did not build, and 2 when nothing could run.
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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parents[1]
PATCHES = ROOT / "tests" / "mutants"
LOGS = ROOT / "build" / "mutants-logs"
LOCK = ROOT / "build" / "mutants.lock"
RESULTS = ROOT / "build" / "mutants.json"
LIMIT_S = 20 * 60
"""A mutant may make the tests hang."""
MARK = "TORR_MUTANT"
"""An environment variable of all processes of a run, by which those that are left are found."""
UNCHANGED = "no-mutant"
NOT_BUILT = -1
NOT_CAUGHT, BROKEN, NOT_APPLIED = "NOT CAUGHT", "BROKEN PATCH", "PATCH DOES NOT APPLY"

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
# How pytest, cargo and vitest name a test that failed.
_FAILED = re.compile(
    r"^(?:(?:FAILED|ERROR) (\S+?\.py(?:::[^\s\[]+(?:\[.*?\](?= - |$))?)?)(?: - .*)?"
    r"|test (.+) \.\.\. FAILED|---- (.+) stdout ----|\s*FAIL\s+(\S+\.ts.*?))\s*$",
    re.MULTILINE,
)


class RefusalError(Exception):
    """Why nothing can run."""


def mutants(names: Sequence[str] = ()) -> dict[str, Path]:
    """Return the patches of these names, all without any; raises RefusalError for others."""
    every = {path.stem: path for path in sorted(PATCHES.glob("*.patch"))}
    unknown = sorted(set(names) - set(every))
    if unknown:
        raise RefusalError(f"there is no mutant {', '.join(unknown)}: --list has the names")
    return {name: path for name, path in every.items() if not names or name in names}


def first_failure(output: str) -> str | None:
    """Return the first test that the output of pytest, cargo or vitest calls failed, if any."""
    found = _FAILED.search(_COLOURS.sub("", output))
    return None if found is None else next(name for name in found.groups() if name)


@contextmanager
def alone() -> Iterator[None]:
    """Keep other runs away from the clone; raises RefusalError where there is one."""
    with LOCK.open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RefusalError("mutants are being run already: wait until that ends") from error
        yield


class Clone:
    """A clone of the current commit, in which patches are applied, built and tested."""

    def __init__(self, folder: Path, tiers: Sequence[str]) -> None:
        """Make the clone, or bring it to the current commit; raises RefusalError."""
        if _git(ROOT, "status", "--porcelain"):
            raise RefusalError("the checkout has uncommitted changes: commit or stash them")
        self.commit = _git(ROOT, "rev-parse", "HEAD")
        self._folder, self._tiers = folder, tiers
        if not (folder / ".git").exists():
            _git(ROOT, "clone", "--quiet", "--shared", "--no-checkout", ".", str(folder))
        _git(folder, "fetch", "--quiet", str(ROOT), "HEAD")
        _git(folder, "checkout", "--quiet", "--force", "--detach", self.commit)

    def verdict(self, name: str, patch: Path | None) -> str:
        """Build and test the commit with a patch, if there is one; which test failed, if any."""
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
        said = log.read_text(encoding="utf-8", errors="replace")
        test = first_failure(said)
        if test is None and (code == NOT_BUILT or "could not compile" in said):
            return BROKEN
        unnamed = "time limit" if code is None else f"exit code {code}: see {log.name}"
        return f"caught by {unnamed if code is None or test is None else test}"

    def _tested(self, output: IO[bytes], patch: Path | None) -> int | None:
        """Run the tests, first those nearest to the patch; the exit code of the first failure."""
        tests = [".venv/bin/python", "scripts/tests.py", "--stop-early"]
        nearest = _nearest_step(patch)
        if nearest == "rust":  # cargo compiles what these need
            code = self._call([*tests, nearest], output)
            if code != 0:
                return code
        if self._call(["make", "build"], output) != 0:
            return NOT_BUILT
        for asked in ([nearest] if nearest not in {None, "rust"} else [], self._tiers):
            code = self._call([*tests, *asked], output) if asked else 0
            if code != 0:
                return code
        return 0

    def _call(self, command: Sequence[str], output: IO[bytes]) -> int | None:
        """Run a command in the clone; its exit code, None where it was ended at the time limit."""
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
            return process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _kill_marked(mark)
            process.wait()


def _nearest_step(patch: Path | None) -> str | None:
    """Return the step of scripts/tests.py that most likely catches a patch, by its language."""
    text = "" if patch is None else patch.read_text(encoding="utf-8")
    steps = {"crates": "rust", "web": "page", "python": "pytest-unit"}
    return next((step for place, step in steps.items() if f"diff --git a/{place}/" in text), None)


def _kill_marked(mark: str) -> None:
    """Kill every process with the mark: a fault may keep tests from ending what they started."""
    variable = f"{MARK}={mark}".encode()
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if variable in path.read_bytes().split(b"\0"):
                os.kill(int(path.parent.name), signal.SIGKILL)


def _git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *words]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise RefusalError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout.strip()


class Results:
    """The verdicts of one commit and its tiers, which are in a file at all times."""

    def __init__(self, commit: str, tiers: Sequence[str]) -> None:
        """Take over the verdicts of the file, where they are of this commit and these tiers."""
        self._about = {"commit": commit, "tiers": list(tiers)}
        self.verdicts: dict[str, dict[str, Any]] = {}
        with suppress(FileNotFoundError):
            known = json.loads(RESULTS.read_text(encoding="utf-8"))
            if self._about.items() <= known.items():
                self.verdicts = known["verdicts"]

    def has_passed(self, name: str) -> bool:
        """Whether the tests passed with this name."""
        return self.verdicts.get(name, {}).get("verdict") == NOT_CAUGHT

    def run(self, clone: Clone, name: str, patch: Path | None = None) -> str:
        """Run a mutant, keep its verdict and return it."""
        began = time.monotonic()
        verdict = clone.verdict(name, patch)
        seconds = round(time.monotonic() - began, 1)
        self.verdicts[name] = {"verdict": verdict, "seconds": seconds}
        draft = RESULTS.with_suffix(".tmp")
        content = {**self._about, "areas": self.areas(), "verdicts": self.verdicts}
        draft.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        draft.replace(RESULTS)
        print(f"{name}: {verdict} ({seconds:.0f} s)", flush=True)
        return verdict

    def areas(self) -> dict[str, tuple[int, int]]:
        """Return how many mutants were caught, of how many, by area; the last one is `all`."""
        every: Counter[str] = Counter()
        caught: Counter[str] = Counter()
        for name in sorted(set(self.verdicts) - {UNCHANGED}):
            area = name.partition("-")[0]
            every[area] += 1
            caught[area] += self.verdicts[name]["verdict"].startswith("caught")
        by_area = {area: (caught[area], of) for area, of in every.items()}
        return {**by_area, "all": (caught.total(), every.total())}


def main() -> int:
    """Run what the command line asks for; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--tier", nargs="+", default=["unit", "component"], help="tiers of scripts/tests.py"
    )
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="run these mutants")
    parser.add_argument("--list", action="store_true", help="print names and sentences")
    parser.add_argument("--clone", type=Path, default=ROOT / "build" / "mutants", metavar="DIR")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        chosen = mutants(asked.only)
        if asked.list:
            for name, path in chosen.items():
                print(f"{name}: {path.read_text(encoding='utf-8').splitlines()[0]}")
            return 0
        LOGS.mkdir(parents=True, exist_ok=True)
        with alone():
            return run(chosen, asked.clone.resolve(), asked.tier)
    except RefusalError as error:
        print(f"mutants: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def run(chosen: dict[str, Path], folder: Path, tiers: Sequence[str]) -> int:
    """Run mutants and print the table of areas; 1 when a patch did not apply or build."""
    clone = Clone(folder, tiers)
    results = Results(clone.commit, tiers)
    try:
        if not results.has_passed(UNCHANGED) and results.run(clone, UNCHANGED) != NOT_CAUGHT:
            raise RefusalError(f"the tests do not pass without a mutant: see {LOGS}")
        verdicts = {results.run(clone, name, path) for name, path in chosen.items()}
        return 1 if verdicts & {BROKEN, NOT_APPLIED} else 0
    finally:
        for area, (caught, of) in results.areas().items():
            print(f"{caught} of {of} caught" if area == "all" else f"{area:<10} {caught} of {of}")


if __name__ == "__main__":
    sys.exit(main())
