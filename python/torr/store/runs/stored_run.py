"""A stored run as shown in lists, and the columns of a result.

The numbers are those of its best level: the one with the highest ok/s among those without a
limited generator, as the median of its rounds. A comparison of several candidates has none.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from torr.model.moment import read_stamp, stamp
from torr.model.printable import printable
from torr.stats.series import Series, worst_health

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torr.model.json import JsonObject
    from torr.results.result import RunResult
    from torr.results.series import LevelPoint


_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_UID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class StoredRun:
    """The columns of a stored run.

    `started` and `ended` are in UTC; `directory` is the run directory on `host`; `concurrency`,
    `ok_per_s`, `p95_ms` and `success_rate` (percent) are those of its best level, which had
    `rounds` rounds; `at_least` says that this ok/s is a lower bound.
    """

    id: int
    uid: str
    name: str
    kind: str
    status: str
    started: datetime
    ended: datetime | None
    git_commit: str | None
    host: str | None
    directory: str | None
    note: str | None
    tags: tuple[str, ...]
    concurrency: int | None
    rounds: int | None
    ok_per_s: float | None
    p95_ms: float | None
    success_rate: float | None
    health: str | None
    at_least: bool | None
    rate: float | None

    @classmethod
    def of(cls, row: Mapping[str, Any], tags: tuple[str, ...]) -> StoredRun:
        """Return a run from a row; its texts are made printable, since other programs may write."""
        values: JsonObject = {key: row[key] for key in cls.__dataclass_fields__ if key in row}
        values |= {key: printable(text) for key, text in values.items() if isinstance(text, str)}
        values |= {key: _moment(row[f"{key}_ms"]) for key in _MOMENTS}
        return cls(**values, tags=tuple(map(printable, tags)))

    def as_json(self) -> JsonObject:
        """Return the run as `torr runs list -o json` prints it."""
        values = {key: getattr(self, key) for key in self.__dataclass_fields__}
        moments = {key: None if values[key] is None else stamp(values[key]) for key in _MOMENTS}
        return {**values, **moments, "tags": list(self.tags)}


_MOMENTS = ("started", "ended")


def columns_of(result: RunResult, directory: str | None) -> JsonObject:
    """Return the columns of a result."""
    machine = result.environment.get("machine")
    point = _best(result)
    return {
        "uid": uid_of(result),
        "name": result.name,
        "kind": result.kind,
        "status": result.status,
        "started_ms": milliseconds(read_stamp(result.started)),
        "ended_ms": milliseconds(read_stamp(result.ended)) if result.ended else None,
        "git_commit": result.environment.get("git"),
        "host": machine.get("host") if isinstance(machine, dict) else None,
        "directory": directory,
        "note": result.note,
        "concurrency": point and point.concurrency,
        "rounds": point and point.rounds,
        "ok_per_s": point and point.ok_per_s,
        # A list has no mark for lower bounds; the report of the run has.
        "p95_ms": None if point is None or point.p95_at_least else point.p95_ms,
        "success_rate": point and point.success_rate,
        "health": worst_health(result.levels),
        "at_least": point and point.at_least,
        "rate": point and (point.rate or None),
    }


def uid_of(result: RunResult) -> str:
    """Return the unique id of a run, 32 hexadecimal digits, which is stable across imports."""
    if result.id is not None and _UID.fullmatch(result.id):
        return result.id
    text = f"{result.name} {result.started} {result.command}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def milliseconds(moment: datetime) -> int:
    """Return milliseconds since 1970."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def _moment(after_ms: int | None) -> datetime | None:
    return None if after_ms is None else _EPOCH + timedelta(milliseconds=after_ms)


def _best(result: RunResult) -> LevelPoint | None:
    if any(level.candidate for level in result.levels):
        return None
    return Series.of(result.name, result.levels).best
