"""Find processes, listeners and files that a stopped server left behind.

The folders are listed before it starts and again after it stopped; new entries belong to it.
Caches of Python's compiler (__pycache__) do not count, nor do files that torr writes. The scratch
folder is removed anyway.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.messages.message import message, message_count, message_list
from torr.servers.failure import TrialError
from torr.servers.ports import Listener, port_listeners

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
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
        """Return the paths that are new in these folders; of a new folder only itself."""
        paths = []
        for folder, names in self.folders.items():
            now = {entry.name for entry in _entries(folder)}
            paths += [folder / name for name in now - names - _CACHES]
        return sorted(paths)


@dataclass(frozen=True, slots=True)
class Leftovers:
    """Processes, listeners and files that remained; usually none."""

    processes: tuple[Process, ...] = ()
    listeners: tuple[Listener, ...] = ()
    files: tuple[Path, ...] = ()

    def failure(self, name: str, log_tail: tuple[str, ...] = ()) -> TrialError | None:
        """Return the error (left_behind) that names the leftovers; None without any."""
        parts = []
        if self.processes:
            parts.append(
                message_count(
                    "leftovers.processes",
                    len(self.processes),
                    "{n} process that still runs: {names}",
                    "{n} processes that still run: {names}",
                    names=_few(self.processes),
                )
            )
        if self.listeners:
            parts.append(
                message_count(
                    "leftovers.listeners",
                    len(self.listeners),
                    "{n} listener: {names}",
                    "{n} listeners: {names}",
                    names=_few(self.listeners),
                )
            )
        if self.files:
            parts.append(
                message_count(
                    "leftovers.files",
                    len(self.files),
                    "{n} file that appeared meanwhile: {names}",
                    "{n} files that appeared meanwhile: {names}",
                    names=_few(self.files),
                )
            )
        if not parts:
            return None
        what = message("trial.left_behind", "left behind {what}", what=message_list("; ", parts))
        return TrialError("left_behind", name, what, None, log_tail)


def _few(items: Sequence[object]) -> str:
    return ", ".join(map(str, items[:3])) + (" …" if len(items) > 3 else "")


def snapshot(folder: Path, ignored: Iterable[Path] = (), most: int = MOST_ENTRIES) -> Snapshot:
    """List a folder and those below it, upper ones first, until there are `most` entries.

    Links are not followed; `ignored` are paths written by torr, such as the run's directory.
    """
    skipped_in: dict[Path, set[str]] = {}
    for path in ignored:
        skipped_in.setdefault(path.absolute().parent, set()).add(path.name)
    folders: dict[Path, frozenset[str]] = {}
    waiting, seen = [folder.absolute()], 0
    for listed in waiting:
        if seen > most:
            return Snapshot(folders, is_whole=False)
        entries = _entries(listed)
        seen += len(entries)
        skipped = skipped_in.get(listed, set())
        folders[listed] = frozenset(entry.name for entry in entries) | skipped
        waiting += [
            listed / entry.name
            for entry in entries
            if entry.is_dir(follow_symlinks=False)
            and entry.name not in _CACHES
            and entry.name not in skipped
        ]
    return Snapshot(folders, is_whole=True)


def leftovers(stopped: ServerExit, port: int | None, before: Snapshot) -> Leftovers:
    """Return what a stopped server left behind, compared with the folders `before` its start."""
    return Leftovers(
        processes=stopped.unkillable,
        listeners=tuple(port_listeners(port)) if port is not None else (),
        files=tuple(before.new()),
    )


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Return the entries of a folder; none if it does not exist or is not readable."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
