"""`torr locust` as a user calls it: Locust patches its process, and so it has one of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest

from installed import Ended, Target, free_port, wait_until

FILES = Path(__file__).parent
# At SIGUSR1 a process writes the stacks of its threads to stderr.
CALL = """
import faulthandler, signal
faulthandler.register(signal.SIGUSR1)
from torr.cli.main import main
main()
"""
# Python's output is not buffered: tests wait for its lines.
SURROUNDINGS = {**os.environ, "PYTHONUNBUFFERED": "1"}


@contextmanager
def starting():
    """Start `torr` commands, each in a folder, and leave them running; kill them at the end."""
    processes = []

    def started(folder, *arguments, **surroundings):
        process = subprocess.Popen(
            [sys.executable, "-c", CALL, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            cwd=folder,
            env={**SURROUNDINGS, **surroundings},
        )
        processes.append(process)
        return process

    yield started
    for process in processes:
        with process:
            process.kill()


def command(name, *arguments):
    """Return the arguments that run a locustfile of this folder without Locust's page."""
    call = ["locust", "-f", FILES / f"{name}.py", "--headless", *arguments]
    if "--processes" in arguments:
        # Locust's default port belongs to the first of the tests that run at the same time.
        port = free_port()
        call += ["--master-bind-port", port, "--master-port", port]
    return call


def ended(process, folder):
    try:
        out, err = process.communicate(timeout=90)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGUSR1)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=2)
        process.kill()
        out, err = process.communicate()
        pytest.fail(f"the process did not end in 90 s; its stderr, with the stacks:\n{err}")
    return Ended(process.returncode, out, err, folder)


@pytest.fixture
def start(tmp_path):
    """Start a `torr` command and leave it running; it is killed at the end of the test."""
    with starting() as started:
        yield partial(started, tmp_path)


@pytest.fixture(scope="session")
def target(tmp_path_factory):
    """A target that answers at once."""
    with starting() as started:
        process = started(tmp_path_factory.mktemp("target"), "target", "hello")
        line = process.stdout.readline()
        assert line.startswith("listening on http://"), process.stderr.read()
        yield Target(line.split()[-1], process)


@pytest.fixture(scope="session")
def run_in():
    """Run a locustfile of this folder in a directory, to the end."""

    def run(folder, name, *arguments, **surroundings):
        with starting() as started:
            return ended(started(folder, *command(name, *arguments), **surroundings), folder)

    return run


@pytest.fixture
def locust(run_in, tmp_path):
    """Run a locustfile of this folder to the end."""
    return partial(run_in, tmp_path)


@pytest.fixture
def interrupted(start, tmp_path):
    """Run a locustfile until its workers are in an interval, then do something to its process."""

    def workers():
        lines = [
            x for file in tmp_path.rglob("intervals.jsonl") for x in file.read_text().split("\n")
        ]
        return max((len(json.loads(line)["health"]["workers"]) for line in lines[:-1]), default=0)

    def run(name, *arguments, by):
        process = start(*command(name, *arguments))
        count = (
            int(arguments[arguments.index("--processes") + 1]) if "--processes" in arguments else 1
        )
        wait_until(lambda: workers() >= count)
        by(process)
        return ended(process, tmp_path)

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
