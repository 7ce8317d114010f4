"""`torr locust` as a user calls it, forked from a process that has imported Locust."""

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
from warm_process import WarmProcess

FILES = Path(__file__).parent
WARM_LOCUST = FILES / "warm_locust.py"
# At SIGUSR1 a process writes the stacks of its threads to stderr.
CALL = """
import faulthandler, signal
faulthandler.register(signal.SIGUSR1)
from torr.cli.main import main
main()
"""
# Python's output is not buffered: tests wait for its lines.
SURROUNDINGS = {"PYTHONUNBUFFERED": "1"}


@pytest.fixture(scope="session")
def warm_locust():
    """Return a process from which a `torr locust` is forked per command."""
    warm = WarmProcess(WARM_LOCUST)
    yield warm
    warm.close()


@pytest.fixture(scope="session")
def starting(warm_locust):
    """Start `torr` commands, each in a folder, and leave them running; kill them at the end.

    They are forked from the warm process, except cold ones, which import what they need and
    inherit the signals that this process ignores.
    """

    @contextmanager
    def start():
        processes = []

        def started(folder, *arguments, is_cold=False, **surroundings):
            environment = {**os.environ, **SURROUNDINGS, **surroundings}
            words = [*map(str, arguments)]
            if is_cold:
                process = subprocess.Popen(
                    [sys.executable, "-c", CALL, *words],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    stdin=subprocess.DEVNULL,
                    text=True,
                    cwd=folder,
                    env=environment,
                )
            else:
                process = warm_locust.start(
                    {"folder": str(folder), "arguments": words, "environment": environment}
                )
            processes.append(process)
            return process

        yield started
        for process in processes:
            with process:
                process.kill()

    return start


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
def start(tmp_path, starting):
    """Start a `torr` command and leave it running; it is killed at the end of the test."""
    with starting() as started:
        yield partial(started, tmp_path)


@pytest.fixture(scope="session")
def target(tmp_path_factory, starting):
    """A target that answers at once."""
    with starting() as started:
        process = started(tmp_path_factory.mktemp("target"), "target", "hello")
        line = process.stdout.readline()
        assert line.startswith("listening on http://"), process.stderr.read()
        yield Target(line.split()[-1], process)


@pytest.fixture(scope="session")
def run_in(starting):
    """Run a locustfile of this folder in a directory, to the end."""

    def run(folder, name, *arguments, **settings):
        with starting() as started:
            return ended(started(folder, *command(name, *arguments), **settings), folder)

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

    def run(name, *arguments, by, is_cold=False):
        process = start(*command(name, *arguments), is_cold=is_cold)
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
