"""The tools that time functions, each a process with a Python of its own; times in nanoseconds."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VENVS = ROOT / "build/tools/python"

_MOST_S = 300
_ABOUT = (
    "import sys, platform; from importlib.metadata import version;"
    " print(version(sys.argv[1]), platform.python_version())"
)

Json = Mapping[str, Any]
Times = dict[str, float]


class ToolError(Exception):
    """A tool that did not come to its end, and what it said last."""


@dataclass(frozen=True)
class Foreign:
    """Another tool: its words after its Python, given a folder, and how its JSON is read."""

    name: str
    words: Callable[[Path], Sequence[str]]
    read: Callable[[Json], Times]

    @property
    def python(self) -> Path:
        """Its own."""
        return VENVS / self.name / "bin/python"

    def version(self) -> str:
        """Its version."""
        return self._about()[0]

    def absent(self) -> str | None:
        """Why it cannot stand beside torr, if so."""
        if not self.python.exists():
            place = self.python.relative_to(ROOT)
            return f"no {place}: scripts/bench-tools.sh --python {self.name} installs it"
        ours, theirs = platform.python_version(), self._about()[1]
        return None if ours == theirs else f"{self.name} has Python {theirs}, torr {ours}"

    def times(self) -> Times:
        """The medians of all functions, by one run of it."""
        with tempfile.TemporaryDirectory(prefix="torr-micro-") as place:
            folder = Path(place)
            (folder / "pytest.ini").write_text("[pytest]\n")
            _run([str(self.python), *self.words(folder)], folder)
            return self.read(json.loads((folder / "out.json").read_text()))

    def _about(self) -> list[str]:
        return _run([str(self.python), "-c", _ABOUT, self.name], ROOT).split()


def torr() -> tuple[Times, float]:
    """The medians of all functions by torr, and what a turn of its loop cost, which it took off."""
    found = json.loads(_run([sys.executable, str(HERE / "by_torr.py")], ROOT, **_PATH))
    return found["times_ns"], found["turn_ns"]


def of_pytest_benchmark(found: Json) -> Times:
    """The medians over its rounds."""
    return {one["extra_info"]["name"]: 1e9 * one["stats"]["median"] for one in found["benchmarks"]}


def of_pyperf(found: Json) -> Times:
    """The medians over values of all its processes; runs that calibrate have none."""
    return {
        one["metadata"]["name"]: 1e9
        * median(value for run in one["runs"] for value in run.get("values", ()))
        for one in found["benchmarks"]
    }


def _pytest_benchmark(folder: Path) -> Sequence[str]:
    # As torr does: the collector stays out of it, and what is not warm is not counted.
    how = ["--benchmark-disable-gc", "--benchmark-warmup=on", "--benchmark-warmup-iterations=2000"]
    much = ["--benchmark-max-time=0.2", f"--benchmark-json={folder / 'out.json'}"]
    plain = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", str(folder / "pytest.ini")]
    return [*plain, *how, *much, str(HERE / "foreign/by_pytest_benchmark.py")]


def _pyperf(folder: Path) -> Sequence[str]:
    much = ["--processes", "3", "--values", "3", "--warmups", "1", "--min-time", "0.05"]
    out = ["--quiet", "-o", str(folder / "out.json")]
    return [str(HERE / "foreign/by_pyperf.py"), *much, *out]


OTHERS = (
    Foreign("pytest-benchmark", _pytest_benchmark, of_pytest_benchmark),
    Foreign("pyperf", _pyperf, of_pyperf),
)

# torr is imported from where this process has it; the others have no use for it.
_PATH = {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}


def _run(command: Sequence[str], folder: Path, **more: str) -> str:
    """What a command said; raises ToolError where it fails."""
    mine = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**mine, **more},
            capture_output=True,
            text=True,
            timeout=_MOST_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"{_name(command)} had not ended after {_MOST_S} s") from error
    if done.returncode:
        said = (done.stderr or done.stdout or "nothing").strip().splitlines()[-1]
        raise ToolError(f"{_name(command)} ended with {done.returncode}: {said}")
    return done.stdout


def _name(command: Sequence[str]) -> str:
    """The script, or the module that is run: where all of it lies is nobody's business."""
    return "pytest-benchmark" if "pytest" in command else Path(command[1]).name
