"""Which runtimes and packages a candidate is made of: a number without them cannot be repeated.

Asked of the programs themselves, each once and for a few seconds at most; what does not tell is
left out. A script is asked for its interpreter, Python for its packages where it is the command or
runs a script of it, node for those that it
finds from where it is started and by its NODE_PATH, a program of Go for its modules. The commit
that is checked out where a candidate is started is one more.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.model.json_input import parse_json
from torr.model.outside_file import read_bounded
from torr.store.environment import git_commit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torr.servers.command import Command

_TIMEOUT_S = 10.0
_MOST_BYTES = 256
_MOST_PACKAGE_BYTES = 1 << 20
# Digits enough for the largest repositories.
_COMMIT, _DIGITS = "git commit", 12
_SCRIPTS = frozenset({".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"})
_PYTHON = re.compile(r"python(\d(\.\d+)?t?)?")
_PACKAGES = (
    "import importlib.metadata as m, json, platform;"
    "print(json.dumps({'python': platform.python_version(),"
    " **{d.metadata['Name']: d.version for d in m.distributions()}}))"
)

Versions = dict[str, str]


def versions(command: Command) -> Versions:
    """The versions behind a filled command, by name; empty where nothing tells them."""
    env = command.environment
    commit = git_commit(command.cwd.absolute())
    found: Versions = {} if commit is None else {_COMMIT: commit[:_DIGITS]}
    # A shell's words name the program that it becomes.
    words = list(dict.fromkeys(" ".join(command.argv).split()))
    for word in words:
        program = _found(word, command.cwd, env)
        if program is not None:
            is_first = word == command.argv[0]
            found |= _of_program(program, _folders(words, command.cwd), env, is_first=is_first)
    return found


def versions_in(command: Command, factors: Mapping[str, object]) -> Versions:
    """The versions behind a command in a cell of these factors; empty where it cannot be filled."""
    try:
        filled = command.filled({"port": 1, "scratch": "/", "processes": 1, **factors})
    except UsageError:
        return {}
    return versions(filled)


def _folders(words: Sequence[str], cwd: Path) -> list[Path]:
    """Where packages of node's may be, the nearest first: from its script up, then from cwd."""
    scripts = [cwd / word for word in words if Path(word).suffix in _SCRIPTS]
    starts = [*(path.resolve().parent for path in scripts if path.is_file()), cwd.absolute()]
    every = (folder / "node_modules" for start in starts for folder in (start, *start.parents))
    return list(dict.fromkeys(every))


def _found(word: str, folder: Path, env: Mapping[str, str]) -> Path | None:
    """The program that a word starts in that folder, if it is one."""
    place = str(folder / word) if "/" in word else word
    program = shutil.which(place, path=env.get("PATH"))
    return None if program is None else Path(program)


def _of_program(
    program: Path, folders: Sequence[Path], env: Mapping[str, str], *, is_first: bool
) -> Versions:
    interpreter = _interpreter(program)
    name = (interpreter or program).name
    # Any other word may be data. What is asked is run.
    if _PYTHON.fullmatch(name) and (interpreter or is_first):
        return _python(interpreter or program, env)
    if name in {"node", "nodejs"}:
        return _node(interpreter or program, folders, env)
    return {} if interpreter else _go(program, env)


def _interpreter(program: Path) -> Path | None:
    """The program that runs a script; None of what is none."""
    try:
        with program.open("rb") as file:
            first = file.read(_MOST_BYTES).partition(b"\n")[0]
    except OSError:
        return None
    words = first.decode("utf-8", "replace").removeprefix("#!").split()
    if not first.startswith(b"#!") or not words:
        return None
    if Path(words[0]).name == "env" and len(words) > 1:
        named = shutil.which(words[-1])
        return None if named is None else Path(named)
    return Path(words[0])


def _python(interpreter: Path, env: Mapping[str, str]) -> Versions:
    text = _said([str(interpreter), "-c", _PACKAGES], env)
    try:
        found: Versions = parse_json(text)
    except ValueError:
        return {}
    return found


def _node(program: Path, folders: Sequence[Path], env: Mapping[str, str]) -> Versions:
    found = {"node": _said([str(program), "--version"], env).strip().removeprefix("v")}
    # As node itself looks: what is nearer hides what is farther.
    last = [Path(folder) for folder in env.get("NODE_PATH", "").split(os.pathsep) if folder]
    for folder in (*folders, *last):
        for pattern in ("*/package.json", "@*/*/package.json"):
            for path in sorted(folder.glob(pattern)):
                found = _package(path) | found
    return {name: version for name, version in found.items() if version}


def _package(path: Path) -> Versions:
    """Name and version of a package of node's; nothing where its file is broken."""
    try:
        package = parse_json(read_bounded(path, _MOST_PACKAGE_BYTES))
        return {str(package["name"]): str(package["version"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _go(program: Path, env: Mapping[str, str]) -> Versions:
    """What `go version -m` says of a program; nothing where there is no Go, or no program of it."""
    go = shutil.which("go", path=env.get("PATH"))
    if go is None:
        return {}
    found: Versions = {}
    for line in _said([go, "version", "-m", str(program)], env).splitlines():
        words = line.split()
        if line.startswith(str(program)) and words[-1].startswith("go"):
            found["go"] = words[-1].removeprefix("go")
        elif words[:1] == ["dep"] and len(words) >= 3:
            found[words[1]] = words[2]
    return found


def _said(words: Sequence[str], env: Mapping[str, str]) -> str:
    """What a program says of itself; empty where it fails."""
    try:
        done = subprocess.run(
            words, env=env, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout if done.returncode == 0 else ""
