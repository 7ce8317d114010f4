"""`torr locust` as a user calls it: Locust patches its process, and so it has one of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from installed import Ended, Target, wait_until
from locust_calls import command, slices_of

CALL = "from torr.cli.main import main; main()"
# The output of Python is not kept back: tests wait for its lines.
SURROUNDINGS = {**os.environ, "PYTHONUNBUFFERED": "1"}


@pytest.fixture
def start(tmp_path):
    """Start a `torr` command and leave it running; it is killed at the end of the test."""
    processes = []

    def started(*arguments, **surroundings):
        process = subprocess.Popen(
            [sys.executable, "-c", CALL, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            cwd=tmp_path,
            env={**SURROUNDINGS, **surroundings},
        )
        processes.append(process)
        return process

    yield started
    for process in processes:
        with process:
            process.kill()


@pytest.fixture
def target(start):
    """A target that answers at once."""
    process = start("target", "hello")
    line = process.stdout.readline()
    assert line.startswith("listening on http://"), process.stderr.read()
    return Target(line.split()[-1], process)


@pytest.fixture
def locust(start, tmp_path, target):
    """Run a locustfile of this folder without its page, to the end."""

    def run(name, *arguments, **surroundings):
        process = start(*command(name, target, *arguments), **surroundings)
        out, err = process.communicate(timeout=90)
        return Ended(process.returncode, out, err, tmp_path)

    return run


@pytest.fixture
def interrupted(start, tmp_path, target):
    """Run a locustfile until it has kept slices, then send a signal."""

    def run(name, *arguments, number=signal.SIGINT):
        process = start(*command(name, target, *arguments))
        wait_until(lambda: slices_of(tmp_path) > 2)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        return Ended(process.returncode, out, err, tmp_path)

    return run


@pytest.fixture
def disk(tmp_path):
    """A small file system, gone at the end of the test."""
    if os.getuid() != 0:
        pytest.skip("only root may mount a file system")

    @contextmanager
    def mounted(options):
        place = tmp_path / "disk"
        place.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], check=True)
        try:
            yield place
        finally:
            subprocess.run(["umount", place], check=True)

    return mounted
