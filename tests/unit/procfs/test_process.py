"""What a process is called, was started with, may do and has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from torr.procfs.process import (
    allowed_cores,
    command_of,
    descriptor_limit,
    descriptors,
    environment_of,
    exists,
    name_of,
    own_private_bytes,
    program_of,
    pss_bytes,
)

ABSENT = 2**22 + 1


def test_command_program_and_environment_are_those_that_a_process_was_started_with():
    command = [sys.executable, "-c", "print(flush=True); input()", "x" * 200]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, env={"A": "b=c"}) as process:
        process.stdout.readline()  # before it has begun, the kernel knows no command
        assert exists(process.pid)
        assert command_of(process.pid) == f"{' '.join(command)[:119]}…"
        assert program_of(process.pid) == Path(sys.executable).resolve().name
        assert environment_of(process.pid)["A"] == "b=c"
        process.communicate(b"\n")


def test_of_a_process_that_does_not_exist_nothing_is_known():
    assert not exists(ABSENT)
    assert (command_of(ABSENT), name_of(ABSENT), allowed_cores(ABSENT)) == ("", "", ())
    assert environment_of(ABSENT) == {}
    assert (descriptors(ABSENT), descriptor_limit(ABSENT), pss_bytes(ABSENT)) == (None, None, None)
    with pytest.raises(OSError, match="No such file"):
        program_of(ABSENT)


def test_open_files_are_counted():
    before = descriptors(os.getpid())
    ends = os.pipe()
    assert descriptors(os.getpid()) == before + 2
    for end in ends:
        os.close(end)


@pytest.mark.parametrize(
    ("text", "cores"), [("0", (0,)), ("0-2,7", (0, 1, 2, 7)), ("1,3-4", (1, 3, 4))]
)
def test_the_cores_of_a_process_are_read(proc, text, cores):
    proc.process(100, cores=text)
    assert allowed_cores(100, proc.root) == cores


def test_own_memory_grows_with_what_is_held():
    before = own_private_bytes()
    held = bytearray(b"x") * (64 << 20)
    assert own_private_bytes() - before > 32 << 20
    assert held
