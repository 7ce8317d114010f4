"""A run's directory: intervals as they come, finished levels in result.json, `latest` a link to it.

    DIR/NAME-<timestamp>/intervals.jsonl one line an interval, flushed: a crash loses one interval
    DIR/NAME-<timestamp>/levels.jsonl    one line a finished level, until the run is closed
    DIR/NAME-<timestamp>/result.json     replaced atomically, more and more seldom, and at the end
    DIR/latest                           -> NAME-<timestamp>, from the first finished level on

Only its owner may read it: it holds what targets sent, and what servers printed. It is made before
any load goes out, so that a directory that cannot be written stops nothing halfway.
It draws nothing: plots, tables and pages are the report's.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import msgspec

from torr import __version__
from torr.errors import OutputError, UsageError, require
from torr.model.outside import Outside
from torr.model.outside_file import MOST_RESULT_BYTES, read_bounded
from torr.results.base import builtins, convert, encode
from torr.results.result import SCHEMA, Conclusions, RunResult, Status, decoded
from torr.store.atomic import replace_link, replacing
from torr.store.level_lines import INTERVALS, LevelLines, intervals_of, recovered
from torr.store.level_log import LevelLog
from torr.units import show_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from typing_extensions import Self

    from torr.model.json import JsonObject
    from torr.results.level import Interval, Level
    from torr.results.profile import Profile
    from torr.results.result import TrialFailure

LATEST = "latest"

_DUE_SHARE = 0.25

FLAGS = {"folder": "-d/--dir", "name": "-n/--name"}
"""What messages call the two words that say where a run goes."""


@dataclass
class RunDirectory:
    """An open run: levels and intervals go in, result.json comes out."""

    path: Path
    head: JsonObject
    failures: list[TrialFailure] = field(default_factory=list)
    """Trials that came to nothing, in the order in which they were made."""
    profiles: list[Profile] = field(default_factory=list)
    """Profiles that were taken behind what was measured."""
    outside: Outside = field(default_factory=Outside, repr=False)
    """Makes what is kept fit for it: no secret, nothing that moves a terminal."""
    _log: LevelLog = field(init=False, repr=False)
    _lines: LevelLines = field(init=False, repr=False)
    # How many levels are on disk, how many lines are, and how many of those are in result.json.
    _on_disk: int = 0
    _line_count: int = 0
    _assembled_count: int = 0

    def __post_init__(self) -> None:
        self._lines = LevelLines(self.path)

    @classmethod
    def create(
        cls,
        root: Path,
        name: str,
        head: Mapping[str, Any],
        flags: Mapping[str, str] = FLAGS,
        *,
        secrets: Iterable[str] = (),
    ) -> RunDirectory:
        """Make the directory and open its intervals; raises OutputError naming flag and path.

        `head` holds what is known before the load: kind, command, plan, note, tags, environment.
        `secrets` are in no file of it, wherever they come from.
        """
        check_name(name, flags["name"])
        started = datetime.now(timezone.utc)
        try:
            _make_root(root, flags["folder"])
            _check_latest(root / LATEST, flags["folder"])
            path = _make(root, f"{name}-{started:%Y%m%d-%H%M%S}")
            known = {"kind": "run", "note": None, "tags": [], "environment": {}, **head}
            own = {"id": os.urandom(16).hex(), "name": name, "started": _stamp(started)}
            outside = Outside().with_secrets(secrets)
            run = cls(path, outside.part({**known, **own}), outside=outside)
            run._log = LevelLog(path / INTERVALS, is_new=True)
        except OSError as error:
            raise OutputError(
                f"{flags['folder']} {root}: cannot be written: {error.strerror or error}",
                f"choose another directory with {_short(flags['folder'])}",
            ) from error
        return run

    @classmethod
    def reopen(cls, path: Path, *, secrets: Iterable[str] = ()) -> RunDirectory:
        """Go on with a run that ended early: its finished levels stay, what was half-made goes.

        Raises UsageError when there is no run, or when it is complete, OutputError when it cannot
        be written.
        """
        kept = _kept_result(recovered(path).parent)
        names = zip(kept.__struct_fields__, kept.__struct_encode_fields__, strict=True)
        head = {key: getattr(kept, name) for name, key in names if key not in _OF_EACH_END}
        run = cls(path, head, outside=Outside().with_secrets(secrets))
        try:
            run._log = LevelLog.reopened(intervals_of(path).rename(path / INTERVALS), kept.levels)
            run.failures = kept.failures
            run._line_count = run._assembled_count = len(run._log) + len(run.failures)
            run._on_disk = len(run._log)
        except BlockingIOError as error:
            raise OutputError(
                f"{path}: another torr goes on with this run", "wait until it has ended"
            ) from error
        except OSError as error:
            raise OutputError(
                f"{path}: cannot be written: {error.strerror or error}", "start a new run"
            ) from error
        return run

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._log.close()
        self._lines.close()
        with suppress(OutputError, OSError):  # else the lines stay for whoever reads the run
            if self._line_count > self._assembled_count:
                self._assemble("interrupted", None)
            self._lines.remove()

    @property
    def root(self) -> Path:
        """The directory that holds all runs."""
        return self.path.parent

    @property
    def written(self) -> tuple[Path, ...]:
        """What is written while the run goes on, wherever it lies."""
        return self.root, self.path, self.root / LATEST

    @property
    def result_path(self) -> Path:
        """The one truth of the run."""
        return self.path / "result.json"

    @property
    def levels(self) -> list[Level]:
        """The finished levels, without their intervals."""
        return self._log.levels

    @property
    def is_empty(self) -> bool:
        """Whether nothing was kept yet."""
        return self._log.is_empty and not self.failures

    def full_levels(self) -> list[Level]:
        """The finished levels with their intervals, read back from the disk."""
        return self._log.full_levels()

    def so_far(self, first_level: int = 0) -> RunResult:
        """What result.json would say now, with status `running` and the levels from one on."""
        return msgspec.structs.replace(
            convert(self._known("running"), RunResult),
            levels=self._log.full_levels(first_level),
            failures=list(self.failures),
        )

    def keep_interval(self, piece: Interval) -> Interval:
        """Append an interval, and return it as it is kept; raises OutputError on a full disk."""
        kept: Interval = self.outside.part(piece)
        try:
            self._log.append_interval(kept)
        except OSError as error:
            raise self._lost(error) from error
        return kept

    def keep_level(self, level: Level) -> Level:
        """Have a finished level on disk before returning it as it is kept.

        Until the run is closed result.json says `interrupted`: so it was, if no more comes.
        """
        (kept,) = self.keep_levels([level])
        return kept

    def keep_levels(
        self, levels: Sequence[Level], conclusions: Conclusions | None = None
    ) -> list[Level]:
        """Add levels that finished together, and what is concluded so far; return them as kept.

        Intervals since the last ones are those of the first.
        """
        is_first = not self._log
        kept: list[Level] = [self.outside.part(level) for level in levels]
        for level in kept:
            self._log.add(level)
            self._keep_last()
        if conclusions is not None:
            self._append({"sections": _members(self.outside.part(conclusions))})
        self._assemble_if_due(conclusions)
        if is_first:
            self._point_latest_here()
        return kept

    def keep_failure(self, failure: TrialFailure) -> TrialFailure:
        """Have a trial that came to nothing on disk before returning it as it is kept."""
        kept: TrialFailure = self.outside.part(failure)
        self.failures.append(kept)
        self._append({"failure": kept, "at": len(self.failures) - 1})
        self._assemble_if_due()
        if not self._log and len(self.failures) == 1:
            self._point_latest_here()
        return kept

    def replace_level(self, level: Level) -> Level:
        """Have more about the level that was kept last on disk; return it as it is kept."""
        kept: Level = self.outside.part(level)
        self._log.replace_last(kept)
        self._keep_last()
        self._assemble_if_due()
        return kept

    def close(self, status: Status, conclusions: Conclusions | None = None) -> None:
        """Write the last result.json, with what was concluded (capacity, verdicts).

        `latest` goes on pointing at a load: a diff of it with another is none.
        """
        self._log.close()
        self._assemble(status, conclusions)
        with self.translating_errors():
            self._lines.remove()
        if self.head["kind"] != "diff":
            self._point_latest_here()

    def abandon(self) -> None:
        """Leave no trace of a run that never started: called before any load went out."""
        import shutil

        self._log.close()
        self._lines.close()
        shutil.rmtree(self.path, ignore_errors=True)

    @contextmanager
    def translating_errors(self) -> Iterator[None]:
        """Turn an OSError of the block into an OutputError that says what is kept."""
        try:
            yield
        except OSError as error:
            raise self._lost(error) from error

    def _keep_last(self) -> None:
        """Have the last level on disk, with its intervals."""
        start, end = self._log.place_of_last
        with self.translating_errors():
            self._log.sync()
        level = self._log.levels[-1]
        self._append({"level": level, "at": len(self._log) - 1, "from": start, "to": end})
        self._on_disk = len(self._log)

    def _append(self, line: JsonObject) -> None:
        with self.translating_errors():
            if self._lines.is_empty:
                self._lines.append({"run": self._known("interrupted")})
            self._lines.append(line)
        self._line_count += 1

    def _assemble_if_due(self, conclusions: Conclusions | None = None) -> None:
        """Write result.json if a quarter as many lines have come as it has.

        So what is written for n levels is a multiple of the last result.json, not of its square;
        and whoever reads that of a run that was killed, without torr, misses a fifth at most.
        """
        if self._line_count - self._assembled_count >= _DUE_SHARE * self._assembled_count:
            self._assemble("interrupted", conclusions)

    def _assemble(self, status: Status, conclusions: Conclusions | None) -> None:
        known = encode(self._known(status))
        more = {"failures": self.failures, "profiles": self.outside.part(self.profiles)}
        there = {name: parts for name, parts in more.items() if parts}
        concluded = self.outside.part(conclusions or Conclusions())
        rest = encode({**there, **_members(concluded)})
        with self.translating_errors(), replacing(self.result_path) as file:
            file.write(known[:-1] + b',"levels":[')
            self._log.write(file)
            file.write(b"]," + rest[1:] + b"\n")
        self._on_disk, self._assembled_count = len(self._log), self._line_count

    def _known(self, status: Status) -> JsonObject:
        """What stands before the levels."""
        return {
            "schema": SCHEMA,
            "torr": __version__,
            **self.head,
            "ended": None if status == "running" else _stamp(datetime.now(timezone.utc)),
            "status": status,
        }

    def _lost(self, error: OSError) -> OutputError:
        text = f"{self.path}: the run could not be kept: {error.strerror or error}"
        if not self.result_path.exists():
            return OutputError(text, "make room, run again")
        noun = "trial" if self.head["kind"] == "compare" else "level"
        hint = f"{show_count(self._on_disk, f'finished {noun}')} kept in {self.path}"
        if self.head["kind"] == "compare":
            hint += f"; make room and go on with --resume {self.path}"
        return OutputError(text, hint)

    def _point_latest_here(self) -> None:
        with self.translating_errors():
            replace_link(self.root / LATEST, self.path.name)


_OF_EACH_END = (
    *("schema", "torr", "ended", "status", "levels", "failures", "profiles"),
    *Conclusions.__struct_encode_fields__,
)


def _members(conclusions: Conclusions) -> JsonObject:
    """Return conclusions as keys of result.json: capacity and verdicts always, others if any."""
    members: JsonObject = builtins(conclusions)
    always = ("capacity", "verdicts")
    return {key: value for key, value in members.items() if key in always or value}


def _kept_result(path: Path) -> RunResult:
    """Return the result of a run that can go on."""
    try:
        text = read_bounded(path / "result.json", MOST_RESULT_BYTES)
    except FileNotFoundError as error:
        raise UsageError(
            f"{path} is no run that kept anything: it has no result.json",
            "give the directory that the run named when it ended",
        ) from error
    except OSError as error:
        raise UsageError(f"{path / 'result.json'} cannot be read: {error.strerror}") from error
    found = decoded(text, str(path / "result.json"))
    require(found.status != "complete", f"{path} is complete: nothing is left to measure")
    return found


def check_name(name: str, flag: str) -> None:
    """Raise OutputError, which names the flag, when files cannot have the name."""
    bad = not name or name in {".", "..", LATEST} or "/" in name or not name.isprintable()
    if bad or name.startswith((".", "-")):
        raise OutputError(f"{flag} {name!r} cannot name files", "write a word such as apiserver")


def _short(flag: str) -> str:
    return flag.partition("/")[0]


def _make_root(root: Path, flag: str) -> None:
    if root.exists() and not root.is_dir():
        raise OutputError(
            f"{flag} {root}: is a file, not a directory", f"choose another with {_short(flag)}"
        )
    root.mkdir(parents=True, exist_ok=True)


def _check_latest(link: Path, flag: str) -> None:
    """`latest` is replaced at the end, which must not cost anybody a file."""
    if os.path.lexists(link) and not link.is_symlink():
        raise OutputError(
            f"{flag}: {link} is not a link, and torr would have to replace it",
            f"move it away, or choose another directory with {_short(flag)}",
        )


def _make(root: Path, name: str) -> Path:
    """A new directory; a second run within one second gets a number."""
    for number in range(1, 1000):
        path = root / (name if number == 1 else f"{name}-{number}")
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
            return path
    raise OutputError(f"{root}: too many runs named {name}")


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
