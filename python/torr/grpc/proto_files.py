"""Descriptors of `.proto` files, by protoc, which is a part of grpcio-tools."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from torr.errors import FileError, UsageError
from torr.grpc.schema import INSTALL, Schema, protobuf, schema_of
from torr.messages.say import say

if TYPE_CHECKING:
    from collections.abc import Sequence

_AT_LINE = re.compile(r"(.+?):(\d+):\d+: (?!warning: )(.+)")
_MOST_LINES = 5


def read_proto_files(files: Sequence[str], folders: Sequence[str] = ()) -> Schema:
    """Return the schema of files; raise FileError for the first error of protoc.

    Imports are looked for in `folders`; without any, in the folders of the files and in the current
    one.
    """
    protobuf()
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    with TemporaryDirectory(prefix="torr-") as folder:
        written = Path(folder) / "descriptors"
        _compile(files, folders or _folders(files), written)
        found = FileDescriptorSet.FromString(written.read_bytes()).file
    return schema_of(", ".join(files), found)


def _folders(files: Sequence[str]) -> list[str]:
    """Return the folders of files and the current one, each once."""
    return list(dict.fromkeys([*(str(Path(file).parent) for file in files), "."]))


def _compile(files: Sequence[str], folders: Sequence[str], written: Path) -> None:
    if find_spec("grpc_tools") is None:
        raise UsageError(say("--proto needs protoc, which is in grpcio-tools"), INSTALL)
    # protoc compares the texts of paths, so that all of them are complete.
    command = [
        *(sys.executable, "-m", "grpc_tools.protoc", "--include_imports"),
        *(f"--proto_path={Path(folder).absolute()}" for folder in folders),
        f"--descriptor_set_out={written}",
        *(str(Path(file).absolute()) for file in files),
    ]
    # Python must not import grpc_tools from the current folder.
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise _error(done.stderr, files)


def _error(text: str, files: Sequence[str]) -> UsageError:
    """Return the error for what protoc wrote: the first one that has a line, if any."""
    hint = say("give --proto-path DIR: the folder that imports are relative to")
    lines = text.strip().splitlines()
    for line in lines:
        match = _AT_LINE.fullmatch(line)
        if match is not None:
            is_import = match[3].startswith("Import ")
            path = _as_given(match[1], files)
            return FileError(path, int(match[2]), match[3], hint if is_import else None)
    if "--proto_path" in text:
        return UsageError(
            say("--proto {files}: not in a folder of --proto-path", files=", ".join(files)), hint
        )
    return UsageError(say("protoc failed: {text}", text="; ".join(lines[:_MOST_LINES])))


def _as_given(text: str, files: Sequence[str]) -> Path:
    """Return the path of a file of an error as the user wrote it; protoc makes it complete."""
    given = [file for file in files if text in (file, str(Path(file).absolute()))]
    path = Path(given[0] if given else text)
    here = Path.cwd()
    return path if given or not path.is_relative_to(here) else path.relative_to(here)
