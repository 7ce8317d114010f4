"""Find the versions of a candidate's runtime and packages, without which no result is repeatable.

They come from the programs themselves, with a time limit of seconds; unknown ones are omitted. The
interpreter of a script is read from its first line. Python lists its packages if it is the command
or runs a script of it; node's are those that it finds from the working directory, the script and
NODE_PATH; a Go program contains its modules. The commit checked out in the working directory is
added.
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
    " **{d['Name']: d['Version'] for d in (each.metadata for each in m.distributions())}}))"
)

Versions = dict[str, str]


def versions(command: Command) -> Versions:
    """Return the versions behind a filled command, by name; empty if none is known."""
    env = command.environment
    commit = git_commit(command.cwd.absolute())
    versions: Versions = {} if commit is None else {_COMMIT: commit[:_DIGITS]}
    # The argument of a shell contains the program that it executes.
    words = list(dict.fromkeys(" ".join(command.argv).split()))
    for word in words:
        program = _program(word, command.cwd, env)
        if program is not None:
            is_first = word == command.argv[0]
            versions |= _program_versions(
                program, _folders(words, command.cwd), env, is_first=is_first
            )
    return versions


def versions_in(command: Command, factors: Mapping[str, object]) -> Versions:
    """Return the versions behind a command in the cell of these factors; empty if not fillable."""
    try:
        filled = command.filled({"port": 1, "scratch": "/", "processes": 1, **factors})
    except UsageError:
        return {}
    return versions(filled)


def _folders(words: Sequence[str], cwd: Path) -> list[Path]:
    """Return the folders where node finds packages: up from its script, then up from cwd."""
    scripts = [cwd / word for word in words if Path(word).suffix in _SCRIPTS]
    starts = [*(path.resolve().parent for path in scripts if path.is_file()), cwd.absolute()]
    every = (folder / "node_modules" for start in starts for folder in (start, *start.parents))
    return list(dict.fromkeys(every))


def _program(word: str, folder: Path, env: Mapping[str, str]) -> Path | None:
    """Return the program that a word names when started in that folder, if any."""
    name_or_path = str(folder / word) if "/" in word else word
    program = shutil.which(name_or_path, path=env.get("PATH"))
    return None if program is None else Path(program)


def _program_versions(
    program: Path, folders: Sequence[Path], env: Mapping[str, str], *, is_first: bool
) -> Versions:
    interpreter = _interpreter(program)
    name = (interpreter or program).name
    # Any other word may be data, which must not be executed.
    if _PYTHON.fullmatch(name) and (interpreter or is_first):
        return _python(interpreter or program, env)
    if name in {"node", "nodejs"}:
        return _node(interpreter or program, folders, env)
    return {} if interpreter else _go(program, env)


def _interpreter(program: Path) -> Path | None:
    """Return the interpreter of a script; None if the program is not a script."""
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
    text = _output([str(interpreter), "-c", _PACKAGES], env)
    try:
        versions: Versions = parse_json(text)
    except ValueError:
        return {}
    return versions


def _node(program: Path, folders: Sequence[Path], env: Mapping[str, str]) -> Versions:
    versions = {"node": _output([str(program), "--version"], env).strip().removeprefix("v")}
    # In node's order: a nearer package hides a farther one.
    last = [Path(folder) for folder in env.get("NODE_PATH", "").split(os.pathsep) if folder]
    for folder in (*folders, *last):
        for pattern in ("*/package.json", "@*/*/package.json"):
            for path in sorted(folder.glob(pattern)):
                versions = _package(path) | versions
    return {name: version for name, version in versions.items() if version}


def _package(path: Path) -> Versions:
    """Return name and version of a node package; empty if its file is broken."""
    try:
        package = parse_json(read_bounded(path, _MOST_PACKAGE_BYTES))
        return {str(package["name"]): str(package["version"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _go(program: Path, env: Mapping[str, str]) -> Versions:
    """Return the versions that `go version -m` prints; empty without Go or for other programs."""
    go = shutil.which("go", path=env.get("PATH"))
    if go is None:
        return {}
    versions: Versions = {}
    for line in _output([go, "version", "-m", str(program)], env).splitlines():
        words = line.split()
        if line.startswith(str(program)) and words[-1].startswith("go"):
            versions["go"] = words[-1].removeprefix("go")
        elif words[:1] == ["dep"] and len(words) >= 3:
            versions[words[1]] = words[2]
    return versions


def _output(words: Sequence[str], env: Mapping[str, str]) -> str:
    """Return the standard output of a program; empty if it fails."""
    try:
        process = subprocess.run(
            words, env=env, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return process.stdout if process.returncode == 0 else ""
