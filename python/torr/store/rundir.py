"""Write the directory of a run.

    DIR/NAME-<timestamp>/intervals.jsonl one line per interval, flushed: a crash loses one interval
    DIR/NAME-<timestamp>/levels.jsonl    one line per finished level, until the run is closed
    DIR/NAME-<timestamp>/result.json     replaced atomically, in growing steps, and at the end
    DIR/latest                           -> NAME-<timestamp>, from the first finished level on

The directory is private, since it contains data of targets and the output of servers. It is created
before any load, so that an error does not interrupt a load. Reports are written elsewhere.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from msgspec.structs import asdict, replace

from torr import __version__
from torr.errors import OutputError, UsageError, require
from torr.messages.counts import counted
from torr.messages.say import say
from torr.model.moment import stamp
from torr.model.outside import Outside
from torr.model.outside_file import MOST_RESULT_BYTES, read_bounded
from torr.results.base import builtins, convert, encode
from torr.results.result import SCHEMA, Conclusions, RunHead, RunResult, Status, decoded
from torr.store.atomic import replace_link, replacing
from torr.store.level_lines import INTERVALS, LevelLines, intervals_of, recover
from torr.store.level_log import LevelLog

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from typing_extensions import Self

    from torr.model.json import JsonObject
    from torr.results.level import Interval, Level
    from torr.results.profile import Profile
    from torr.results.result import TrialFailure

LATEST = "latest"
LONGEST_NAME = 200
"""Bytes of a name: a file system allows 255, and dates and endings follow the name."""

_DUE_SHARE = 0.25

FLAGS = {"folder": "-d/--dir", "name": "-n/--name"}
"""The names of the two options in error messages."""


@dataclass
class RunDirectory:
    """An open run, which writes levels and intervals to result.json."""

    path: Path
    head: RunHead
    failures: list[TrialFailure] = field(default_factory=list)
    """Failed trials, in their order."""
    profiles: list[Profile] = field(default_factory=list)
    """Profiles that were taken after the measurement."""
    outside: Outside = field(default_factory=Outside, repr=False)
    """Removes secrets and terminal control characters from all that is stored."""
    _log: LevelLog = field(init=False, repr=False)
    _lines: LevelLines = field(init=False, repr=False)
    # The last conclusions that came with levels.
    _conclusions: Conclusions | None = None
    # The numbers of levels on disk, of lines, and of lines whose content is in result.json.
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
        head: RunHead,
        flags: Mapping[str, str] = FLAGS,
        *,
        secrets: Iterable[str] = (),
    ) -> RunDirectory:
        """Create the directory and the file of intervals; raise OutputError with flag and path.

        `secrets` are removed from all files.
        """
        check_name(name, flags["name"])
        started = datetime.now(timezone.utc)
        try:
            _make_root(root, flags["folder"])
            _check_latest(root / LATEST, flags["folder"])
            path = _make(root, f"{name}-{started:%Y%m%d-%H%M%S}")
            outside = Outside().with_secrets(secrets)
            run = cls(
                path, _stored_head(replace(head, name=name), started, outside), outside=outside
            )
            run._log = LevelLog(path / INTERVALS, is_new=True)
        except OSError as error:
            raise OutputError(
                say(
                    "{flags} {root}: cannot be written: {error}",
                    flags=flags["folder"],
                    root=root,
                    error=error.strerror or error,
                ),
                say("choose another directory with {flags}", flags=_short(flags["folder"])),
            ) from error
        return run

    @classmethod
    def reopen(cls, path: Path, *, secrets: Iterable[str] = ()) -> RunDirectory:
        """Reopen a run that ended early, with its finished levels, without an unfinished one.

        Raises UsageError if there is no run, or if it is complete, OutputError if it cannot be
        written.
        """
        result = _unfinished_result(recover(path).parent)
        head = RunHead(**{name: getattr(result, name) for name in RunHead.__struct_fields__})
        run = cls(path, head, outside=Outside().with_secrets(secrets))
        try:
            run._log = LevelLog.reopen(intervals_of(path).rename(path / INTERVALS), result.levels)
            run.failures = result.failures
            run._line_count = run._assembled_count = len(run._log) + len(run.failures)
            run._on_disk = len(run._log)
        except BlockingIOError as error:
            raise OutputError(
                say("{path}: another torr process continues this run", path=path),
                say("wait until it has ended"),
            ) from error
        except OSError as error:
            raise OutputError(
                say("{path}: cannot be written: {error}", path=path, error=error.strerror or error),
                say("start a new run"),
            ) from error
        return run

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._log.close()
        self._lines.close()
        with suppress(OutputError, OSError):  # the lines remain, and the next reader adds them
            if self._line_count > self._assembled_count:
                self._assemble("interrupted")
            self._lines.remove()

    @property
    def root(self) -> Path:
        """Return the directory that contains all runs."""
        return self.path.parent

    @property
    def written(self) -> tuple[Path, ...]:
        """Return the paths that are written during the run."""
        return self.root, self.path, self.root / LATEST

    @property
    def result_path(self) -> Path:
        """Return the path of result.json."""
        return self.path / "result.json"

    @property
    def levels(self) -> list[Level]:
        """Return the finished levels, without intervals."""
        return self._log.levels

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was stored yet."""
        return self._log.is_empty and not self.failures

    def full_levels(self) -> list[Level]:
        """Return the finished levels with their intervals, which are read back from disk."""
        return self._full_levels()

    def current_result(self, first_level: int = 0) -> RunResult:
        """Return the current result, with status `running` and the levels from an index on."""
        return self._result("running", self._full_levels(first_level))

    @property
    def is_removed(self) -> bool:
        """Return whether another program has removed the directory."""
        return not self.path.exists()

    def unsaved_result(self) -> RunResult:
        """Return what is in memory of a run whose directory was removed: no intervals."""
        return self._result("interrupted", self.levels)

    def keep_interval(self, piece: Interval) -> Interval:
        """Append an interval and return it as stored; raise OutputError on a full disk."""
        stored: Interval = self.outside.part(piece)
        try:
            self._log.append_interval(stored)
        except OSError as error:
            raise self._write_error(error) from error
        return stored

    def keep_level(self, level: Level) -> Level:
        """Write a finished level to disk and return it as stored.

        Until the run is closed, its status in result.json is `interrupted`.
        """
        (stored,) = self.keep_levels([level])
        return stored

    def keep_levels(
        self, levels: Sequence[Level], conclusions: Conclusions | None = None
    ) -> list[Level]:
        """Write levels that finished together, and conclusions; return the levels as stored.

        The intervals since the last level belong to the first of them.
        """
        is_first = not self._log
        stored: list[Level] = [self.outside.part(level) for level in levels]
        for level in stored:
            self._log.add(level)
            self._write_last()
        if conclusions is not None:
            self._conclusions = conclusions
            self._append({"sections": _members(self.outside.part(conclusions))})
        self._assemble_if_due()
        if is_first:
            self._point_latest_here()
        return stored

    def keep_head(self) -> None:
        """Write a head that has changed since the first level to disk."""
        self._assemble("interrupted")

    def keep_failure(self, failure: TrialFailure) -> TrialFailure:
        """Write a failed trial to disk and return it as stored."""
        stored: TrialFailure = self.outside.part(failure)
        self.failures.append(stored)
        self._append({"failure": stored, "at": len(self.failures) - 1})
        self._assemble_if_due()
        if not self._log and len(self.failures) == 1:
            self._point_latest_here()
        return stored

    def replace_level(self, level: Level) -> Level:
        """Replace the last level on disk by one with more data; return it as stored."""
        stored: Level = self.outside.part(level)
        self._log.replace_last(stored)
        self._write_last()
        self._assemble_if_due()
        return stored

    def close(self, status: Status, conclusions: Conclusions | None = None) -> None:
        """Write the final result.json, with the conclusions (capacity, verdicts).

        `latest` is not changed by a diff, which is not a load.
        """
        self._log.close()
        self._assemble(status, conclusions)
        with self.translating_errors():
            self._lines.remove()
        if self.head.kind != "diff":
            self._point_latest_here()

    def abandon(self) -> None:
        """Remove the directory of a run that did not start."""
        import shutil

        self._log.close()
        self._lines.close()
        shutil.rmtree(self.path, ignore_errors=True)

    @contextmanager
    def translating_errors(self) -> Iterator[None]:
        """Convert an OSError to an OutputError that names what is stored."""
        try:
            yield
        except OSError as error:
            raise self._write_error(error) from error

    def _full_levels(self, first: int = 0) -> list[Level]:
        with self.translating_errors():
            return self._log.full_levels(first)

    def _result(self, status: Status, levels: list[Level]) -> RunResult:
        result = convert(self._header(status), RunResult)
        return replace(result, levels=levels, failures=list(self.failures))

    def _write_last(self) -> None:
        """Write the last level to disk, with its intervals."""
        start, end = self._log.last_interval_range
        with self.translating_errors():
            self._log.sync()
        level = self._log.levels[-1]
        self._append({"level": level, "at": len(self._log) - 1, "from": start, "to": end})
        self._on_disk = len(self._log)

    def _append(self, line: JsonObject) -> None:
        with self.translating_errors():
            if self._lines.is_empty:
                self._lines.append({"run": self._header("interrupted")})
            self._lines.append(line)
        self._line_count += 1

    def _assemble_if_due(self) -> None:
        """Write result.json if the new lines are a quarter of those that it contains.

        So the total of bytes written is proportional to the final size, not to its square, and the
        result.json of a killed run lacks at most a fifth of the levels.
        """
        if self._line_count - self._assembled_count >= _DUE_SHARE * self._assembled_count:
            self._assemble("interrupted")

    def _assemble(self, status: Status, conclusions: Conclusions | None = None) -> None:
        lists = {"failures": self.failures, "profiles": self.outside.part(self.profiles)}
        members = {name: parts for name, parts in lists.items() if parts}
        members |= _members(self.outside.part(conclusions or self._conclusions or Conclusions()))
        with self.translating_errors(), replacing(self.result_path) as file:
            file.write(encode(self._header(status))[:-1] + b',"levels":[')
            self._log.write(file)
            file.write(b"]," + encode(members)[1:] + b"\n")
        self._on_disk, self._assembled_count = len(self._log), self._line_count

    def _header(self, status: Status) -> JsonObject:
        """Return the members before the levels."""
        return {
            "schema": SCHEMA,
            "torr": __version__,
            **asdict(self.head),
            "ended": None if status == "running" else stamp(datetime.now(timezone.utc)),
            "status": status,
        }

    def _write_error(self, error: OSError) -> OutputError:
        if self.is_removed:
            return OutputError(
                say("{path}: the directory was removed before the run ended", path=self.path),
                say("run it again, and keep the directory until the run has ended"),
            )
        text = say(
            "{path}: the run could not be written: {error}",
            path=self.path,
            error=error.strerror or error,
        )
        if not self.result_path.exists():
            return OutputError(text, say("free disk space, and run it again"))
        has_trials = self.head.kind in ("compare", "tune")
        noun = "trial" if has_trials else "level"
        hint = say(
            "{count} stored in {path}",
            count=counted(self._on_disk, f"finished {noun}"),
            path=self.path,
        )
        if has_trials:
            hint = say(
                "{stored}; free disk space and continue with --resume {path}",
                stored=hint,
                path=self.path,
            )
        return OutputError(text, hint)

    def _point_latest_here(self) -> None:
        with self.translating_errors():
            replace_link(self.root / LATEST, self.path.name)


def _stored_head(head: RunHead, started: datetime, outside: Outside) -> RunHead:
    """Return the head as stored: what torr itself writes stays, even if it looks like a secret."""
    stored: RunHead = outside.part(replace(head, environment={}))
    return replace(
        stored, environment=head.environment, id=os.urandom(16).hex(), started=stamp(started)
    )


def _members(conclusions: Conclusions) -> JsonObject:
    """Return conclusions as keys of result.json: capacity and verdicts always, others if any."""
    members: JsonObject = builtins(conclusions)
    always = ("capacity", "verdicts")
    return {key: value for key, value in members.items() if key in always or value}


def _unfinished_result(path: Path) -> RunResult:
    """Return the result of a run that can be resumed."""
    try:
        text = read_bounded(path / "result.json", MOST_RESULT_BYTES)
    except FileNotFoundError as error:
        raise UsageError(
            say("{path} contains no stored result: it has no result.json", path=path),
            say("give the directory that the run named when it ended"),
        ) from error
    except OSError as error:
        raise UsageError(
            say(
                "{path} cannot be read: {strerror}",
                path=path / "result.json",
                strerror=error.strerror,
            )
        ) from error
    result = decoded(text, str(path / "result.json"))
    require(
        result.status != "complete",
        say("{path} is complete: nothing is left to measure", path=path),
    )
    return result


def check_name(name: str, flag: str) -> None:
    """Raise OutputError with the flag if files cannot have this name."""
    bad = not name or name in {".", "..", LATEST} or "/" in name or not name.isprintable()
    if bad or name.startswith((".", "-")):
        raise OutputError(
            say("{flag} {name!r} cannot name files", flag=flag, name=name),
            say("write a word such as apiserver"),
        )
    if len(name.encode()) > LONGEST_NAME:
        raise OutputError(
            say(
                "{flag} {name!r} is longer than {most} bytes, and files are named after it",
                flag=flag,
                name=name,
                most=LONGEST_NAME,
            ),
            say("write a shorter one"),
        )


def short_name(name: str) -> str:
    """Return the beginning and the end of a name that is longer than names may be."""
    data, omission = name.encode(), "…"
    if len(data) <= LONGEST_NAME:
        return name
    half = (LONGEST_NAME - len(omission.encode())) // 2
    return omission.join(part.decode(errors="ignore") for part in (data[:half], data[-half:]))


def _short(flag: str) -> str:
    return flag.partition("/")[0]


def _make_root(root: Path, flag: str) -> None:
    if root.exists() and not root.is_dir():
        raise OutputError(
            say("{flag} {root}: is a file, not a directory", flag=flag, root=root),
            say("choose another with {flag}", flag=_short(flag)),
        )
    root.mkdir(parents=True, exist_ok=True)


def _check_latest(link: Path, flag: str) -> None:
    """Raise OutputError if `latest` is not a link, since it would be overwritten."""
    if os.path.lexists(link) and not link.is_symlink():
        raise OutputError(
            say(
                "{flag}: {link} is not a link, and torr would have to replace it",
                flag=flag,
                link=link,
            ),
            say("move it away, or choose another directory with {flag}", flag=_short(flag)),
        )


def _make(root: Path, name: str) -> Path:
    """Create a directory; further ones within the same second get a number."""
    for number in range(1, 1000):
        path = root / (name if number == 1 else f"{name}-{number}")
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
            return path
    raise OutputError(say("{root}: too many runs named {name}", root=root, name=name))
