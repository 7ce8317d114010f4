"""Does a golden case again from what was recorded, and returns everything that people read.

This is the only file of the golden tests that knows where things are in `torr`.
"""

from __future__ import annotations

import json
import os
import re
import signal
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from recordings import FOLDER, RecordedLoad, Recording, recording
from torr import engine
from torr.cli.main import main
from torr.monitor import monitor
from torr.report import write_all
from torr.report.files import junit, markdown_parts
from torr.results.base import convert
from torr.results.monitor import MonitorSeries
from torr.results.result import decoded, encoded
from torr.servers import versions
from torr.store import environment, rundir
from torr.verdicts.exit import gate

if TYPE_CHECKING:
    from collections.abc import Callable

    from cases import Case

NOW = datetime(2026, 1, 31, 12, tzinfo=timezone.utc)
STAMP = "20260131-120000"
TEXTS = ("*.txt", "*.xml", "summary.md", "*.csv", "*.dat")
MACHINE = {
    "host": "host",
    "cpu": "A Processor",
    "architecture": "x86_64",
    "cores": 2,
    "cores_allowed": 2,
    "governor": None,
    "memory_bytes": 8 << 30,
}
UNAME = os.uname_result(("Linux", "host", "6.12.1", "#1 SMP", "x86_64"))
# Longer lists of numbers are replaced by a summary of them.
LONGEST_LIST = 12


class Clock(datetime):
    """A clock that stands still."""

    @classmethod
    def now(cls, tz=None):  # noqa: ARG003
        return NOW


@dataclass
class PlayedLoad:
    """A load that hands out what was recorded of one."""

    said: RecordedLoad
    interrupt_at: int | None
    count: int = 0

    def next_interval(self, timeout_s):  # noqa: ARG002
        self.count += 1
        if self.count == self.interrupt_at:
            os.kill(os.getpid(), signal.SIGINT)
        return self.said["intervals"][self.count - 1]

    def done(self):
        return self.count >= len(self.said["intervals"])

    def stop(self):
        pass

    def abort(self):
        pass

    def level(self):
        return self.said["level"]


@dataclass
class Player:
    """An engine and a monitor that say what was recorded, load after load."""

    loads: list[RecordedLoad]
    interrupt_at: int | None
    plans: list[dict] = field(default_factory=list)
    _handed_out: int = 0

    def start(self, plan):
        said = self.loads[len(self.plans)]
        self.plans.append(json.loads(plan.to_text()))
        at = None if self.interrupt_at is None else self.interrupt_at - self._handed_out
        self._handed_out += len(said["intervals"])
        return PlayedLoad(said, at)

    def monitor(self, *_):
        return PlayedMonitor(self)


@dataclass
class PlayedMonitor:
    """A monitor that saw what was recorded of the load beside it."""

    player: Player

    def start(self):
        pass

    def abandon(self):
        pass

    def interval_came(self, piece):
        pass

    def stop(self, level):  # noqa: ARG002
        seen = self.player.loads[len(self.player.plans) - 1]["monitor"]
        return convert(seen, MonitorSeries)


def replayed(case: Case, folder: Path, patch: pytest.MonkeyPatch, capture: Callable) -> dict:
    """Return the exit code, output and files of a case, by name; numbers and paths as anywhere."""
    patch.chdir(folder)
    patch.setenv("TORR_STORE", f"sqlite:///{folder}/runs.db")
    patch.setenv("COLUMNS", "200")
    patch.setattr(rundir, "datetime", Clock)
    patch.setattr(environment, "_machine", lambda: MACHINE)
    patch.setattr(environment, "_limits", lambda: {"nofile_soft": 1024})
    patch.setattr(environment, "git_commit", lambda _folder: None)
    patch.setattr(os, "urandom", bytes)
    patch.setattr(os, "uname", lambda: UNAME)
    patch.setattr(environment, "sys", SimpleNamespace(version="3.11.7"))
    again = {"engine": measured_again, "resume": resumed, "kept": shown_again, "diff": set_beside}
    outputs = again[case.again](case, folder, patch)
    out, err = capture()
    latest = folder / "_output/torr/latest"
    if latest.exists():
        outputs |= files_of(latest.resolve())
    outputs |= {path.name: path.read_text() for path in folder.glob("junit.xml")}
    outputs |= {"stdout.txt": out, "stderr.txt": err}
    return {name: plain(text, folder) for name, text in outputs.items()}


def measured_again(case: Case, folder: Path, patch: pytest.MonkeyPatch) -> dict:
    """Call the command with an engine and a monitor that play what was recorded."""
    recorded = recording(case.name)
    player = Player(recorded["loads"], case.interrupt_at)
    patch.setattr(engine, "start", player.start)
    patch.setattr(monitor, "Monitor", player.monitor)
    write_files(recorded, folder)
    code = called(recorded["command"])
    return {"exit_code.txt": f"{code}\n", "plans.json": json.dumps(player.plans)}


def resumed(case: Case, folder: Path, patch: pytest.MonkeyPatch) -> dict:
    """Go on with a comparison that has all its trials, so that only its end is left."""
    recorded = recording(case.name)
    result = json.loads(json.dumps(recorded["result"]).replace(FOLDER, str(folder)))
    patch.setattr(versions, "versions", lambda _command: {})
    write_files(recorded, folder)
    kept = folder / "_output/torr" / f"{result['name']}-{STAMP}"
    kept.mkdir(parents=True)
    begun = {**result, "status": "interrupted", "environment": environment.environment()}
    for candidate in begun["experiment"]["candidates"].values():
        candidate["versions"] = {}
    (kept / "result.json").write_text(json.dumps(begun))
    (kept / "intervals.jsonl").touch()
    code = called([*recorded["command"], "--resume", str(kept)])
    return {"exit_code.txt": f"{code}\n"}


def shown_again(case: Case, folder: Path, patch: pytest.MonkeyPatch) -> dict:  # noqa: ARG001
    """Keep a recorded result in the store, show it from there, draw its files and judge it."""
    result = decoded(json.dumps(recording(case.name)["result"]).encode(), case.name)
    kept = folder / "_output/torr" / f"{result.name}-{STAMP}"
    kept.mkdir(parents=True)
    (kept / "result.json").write_bytes(encoded(result))
    codes = [called(["runs", "import", str(kept)]), called(["runs", "show", "1"])]
    codes.append(called(["runs", "show", "1", "--lang", "zh"]))
    assert codes == [0, 0, 0]
    (kept.parent / "latest").symlink_to(kept)
    write_all(result, kept)
    missed = gate(result).error
    junit.write(result, folder / "junit.xml", None if missed is None else missed.message)
    return {"exit_code.txt": f"{0 if missed is None else 1}\n"}


def set_beside(case: Case, folder: Path, patch: pytest.MonkeyPatch) -> dict:
    """Make the sides again, and set them beside each other."""
    from cases import CASES

    for name in case.sides:
        side = next(each for each in CASES if each.name == name)
        with patch.context() as own:
            place = folder / name
            place.mkdir()
            own.chdir(place)
            measured_again(side, place, own)
    sides = {name: str(folder / name / "_output/torr/latest") for name in case.sides}
    code = called([sides.get(word, word) for word in case.command])
    return {"exit_code.txt": f"{code}\n"}


def called(arguments: list[str]) -> int:
    """Call `torr` within this process, and return its exit code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["torr", *arguments])
        with pytest.raises(SystemExit) as ended:
            main(arguments)
    return int(ended.value.code or 0)


def write_files(recorded: Recording, folder: Path) -> None:
    """Write the files that the command of a case names."""
    for name, text in recorded["files"].items():
        (folder / name).write_text(text)


def files_of(run: Path) -> dict:
    """Return what people and programs read of a run, by the name of its file."""
    texts = {path.name: path.read_text() for name in TEXTS for path in run.glob(name)}
    result = json.loads((run / "result.json").read_text())
    for level in result["levels"]:
        for long in ("intervals", "histograms", "warmup"):
            level.pop(long, None)
    page = (run / "report.html").read_text() if (run / "report.html").exists() else ""
    view = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    if view is not None:
        texts["view.json"] = json.dumps(json.loads(view[1])["run"]["view"])
    return {**texts, "result.json": json.dumps(result)}


def plain(text: str, folder: Path) -> str:
    """Return a text without what differs from run to run and from machine to machine."""
    # In Markdown, a special character in the name of the folder has a backslash before it.
    for written in (str(folder), str(markdown_parts.plain(str(folder)))):
        text = text.replace(written, FOLDER)
    if not text.startswith(("{", "[")):
        return text
    return json.dumps(shortened(json.loads(text)), indent=1, ensure_ascii=False) + "\n"


def shortened(value: object) -> object:
    """Return JSON with nine digits of each number, and a summary of each long list of numbers."""
    if isinstance(value, dict):
        return {key: shortened(each) for key, each in value.items()}
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if not isinstance(value, list):
        return value
    numbers = [each for each in value if isinstance(each, int | float)]
    if len(numbers) == len(value) > LONGEST_LIST:
        ends = [shortened(numbers[0]), shortened(numbers[-1])]
        return {"count": len(value), "ends": ends, "sum": float(f"{sum(numbers):.7g}")}
    if len(value) > LONGEST_LIST and all(isinstance(each, list) for each in value):
        columns = max(map(len, value))
        return {"rows": len(value), "columns": columns, "ends": shortened([value[0], value[-1]])}
    return [shortened(each) for each in value]
