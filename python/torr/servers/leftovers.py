"""What a stopped server left: processes, listeners, files.

The folders are listed before it starts and again when it is stopped: what is new in them is its.
Caches of Python's compiler (__pycache__) are not counted, nor is what torr itself writes. The
scratch folder is there to be littered, and is removed.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.servers.failure import TrialError
from torr.servers.ports import Holder, holders

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from torr.servers.server_exit import Process, ServerExit

MOST_ENTRIES = 20_000
_CACHES = {"__pycache__"}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The names in each folder at one time; not `is_whole` when there were too many to list."""

    folders: dict[Path, frozenset[str]]
    is_whole: bool

    def new(self) -> list[Path]:
        """What is in these folders now and was not then; of a new folder only itself."""
        found = []
        for folder, names in self.folders.items():
            found += [folder / name for name in _names(folder) - names - _CACHES]
        return sorted(found)


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What was found; nothing, mostly."""

    processes: tuple[Process, ...] = ()
    listeners: tuple[Holder, ...] = ()
    files: tuple[Path, ...] = ()

    def failure(self, name: str, log_tail: tuple[str, ...] = ()) -> TrialError | None:
        """The error (left_behind) that names what should not be there; None if nothing is."""
        parts = [
            f"{len(found)} {one if len(found) == 1 else many}: {', '.join(map(str, found[:3]))}"
            + (" …" if len(found) > 3 else "")
            for one, many, found in (
                ("process that still runs", "processes that still run", self.processes),
                ("listener", "listeners", self.listeners),
                ("file that appeared meanwhile", "files that appeared meanwhile", self.files),
            )
            if found
        ]
        if not parts:
            return None
        text = f"{name}: left behind {'; '.join(parts)}"
        return TrialError("left_behind", text, log_tail=log_tail)


def snapshot(folder: Path, ignored: Iterable[Path] = (), most: int = MOST_ENTRIES) -> Snapshot:
    """List a folder and those in it, the upper ones first, until there are `most` entries.

    Links are not followed; `ignored` are paths that others write, such as the run's directory.
    """
    skipped = {path.absolute() for path in ignored}
    folders: dict[Path, frozenset[str]] = {}
    waiting, seen = [folder.absolute()], 0
    for each in waiting:
        if seen > most:
            return Snapshot(folders, is_whole=False)
        entries = _entries(each)
        seen += len(entries)
        folders[each] = frozenset(entry.name for entry in entries) | {
            path.name for path in skipped if path.parent == each
        }
        waiting += [
            each / entry.name
            for entry in entries
            if entry.is_dir(follow_symlinks=False)
            and entry.name not in _CACHES
            and each / entry.name not in skipped
        ]
    return Snapshot(folders, is_whole=True)


def leftovers(stopped: ServerExit, port: int | None, before: Snapshot) -> Leftovers:
    """What is there after a stop that should not be."""
    return Leftovers(
        processes=stopped.left,
        listeners=tuple(holders(port)) if port is not None else (),
        files=tuple(before.new()),
    )


def _names(folder: Path) -> set[str]:
    return {entry.name for entry in _entries(folder)}


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """What is in a folder; nothing where it is gone or may not be read."""
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []
