"""Describe the machine and the versions of a run, without which its numbers mean nothing.

Only files are read and no process is started; unknown values are null.
"""

from __future__ import annotations

import os
import re
import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from torr import __version__
from torr.procfs import machine

if TYPE_CHECKING:
    from torr.model.json import JsonObject

# SHA-1 or SHA-256.
_OBJECT_NAME = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def environment() -> JsonObject:
    """Return the `environment` of result.json."""
    return {
        "machine": _machine(),
        "kernel": f"{os.uname().sysname} {os.uname().release}",
        "limits": _limits(),
        "versions": {"torr": __version__, "python": sys.version.partition(" ")[0]},
        "git": git_commit(Path.cwd()),
    }


def git_commit(folder: Path) -> str | None:
    """Return the commit checked out in the git work tree of a folder, if it is in one."""
    for parent in (folder, *folder.parents):
        git = parent / ".git"
        if git.is_file():
            git = parent / _text(git).removeprefix("gitdir:").strip()
        if git.is_dir():
            return _resolve(git, _text(git / "HEAD").strip())
    return None


def _machine() -> JsonObject:
    return {
        "host": os.uname().nodename,
        "cpu": machine.processor(),
        "architecture": os.uname().machine,
        "cores": os.cpu_count(),
        "cores_allowed": machine.allowed_cores(),
        "governor": machine.governor(),
        "memory_bytes": machine.memory_bytes(),
    }


def _limits() -> JsonObject:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    kernel = {
        name: numbers if len(numbers) > 1 else next(iter(numbers), None)
        for name, numbers in machine.kernel_limits().items()
    }
    return {"nofile_soft": soft, "nofile_hard": hard, **kernel}


def _resolve(git: Path, head: str) -> str | None:
    reference = head.removeprefix("ref:").strip()
    if reference == head:
        return _commit(head)
    if not reference.startswith("refs/") or ".." in reference.split("/"):
        return None
    common = git / (_text(git / "commondir").strip() or ".")
    for folder in (git, common):
        commit = _commit(_text(folder / reference).strip())
        if commit is not None:
            return commit
    for line in _text(common / "packed-refs").splitlines():
        name, _, of = line.partition(" ")
        if of == reference:
            return _commit(name)
    return None


def _commit(text: str) -> str | None:
    """Return the text if it is a commit's hash; no other content of files gets into results."""
    return text if _OBJECT_NAME.fullmatch(text) else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
