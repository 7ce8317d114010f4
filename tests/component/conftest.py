"""Fixtures that run the installed `torr` against its own targets on the loopback address."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from candidates import QUICK, SERVER
from installed import TORR, Ended, Target

TIMEOUT_S = 120
WARM_TORR = Path(__file__).with_name("warm_torr.py")


class WarmTorr:
    """Runs commands of `torr`, each in a process forked from one that has imported torr."""

    def __init__(self):
        self._process = subprocess.Popen(
            [sys.executable, WARM_TORR],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(WARM_TORR.parents[1])},
            start_new_session=True,
        )

    def run(self, folder, arguments, output):
        """Run a command to its end in a folder, and return its exit code and output."""
        out, err = output / "out.txt", output / "err.txt"
        request = {
            "folder": str(folder),
            "arguments": arguments,
            "environment": dict(os.environ),
            "out": str(out),
            "err": str(err),
        }
        self._process.stdin.write(f"{json.dumps(request)}\n")
        self._process.stdin.flush()
        ready, _, _ = select.select([self._process.stdout], [], [], TIMEOUT_S)
        assert ready, f"torr had not ended after {TIMEOUT_S} s: {err.read_text()}"
        code = int(self._process.stdout.readline())
        return Ended(code, out.read_text(), err.read_text(), folder)

    def close(self):
        """Kill the warm process, and a command that has not ended."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


@pytest.fixture(scope="session")
def warm_torr():
    warm = WarmTorr()
    yield warm
    warm.close()


@pytest.fixture
def torr(tmp_path, tmp_path_factory, warm_torr):
    """Run a `torr` command to its end in an empty directory.

    It is forked from the warm process. With settings, which are keywords of `subprocess.run` such
    as `env`, the installed program is started instead.
    """

    def run(*arguments, **settings):
        if not settings:
            return warm_torr.run(
                tmp_path, list(map(str, arguments)), tmp_path_factory.mktemp("output")
            )
        process = subprocess.run(
            [TORR, *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=TIMEOUT_S,
            check=False,
            **settings,
        )
        return Ended(process.returncode, process.stdout, process.stderr, tmp_path)

    return run


@pytest.fixture
def start(tmp_path):
    """Start a `torr` command and leave it running; it is killed at the end of the test."""
    processes = []

    def started(*arguments, **settings):
        process = subprocess.Popen(
            [TORR, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            **settings,
        )
        processes.append(process)
        return process

    yield started
    for process in processes:
        with process:
            process.kill()


@pytest.fixture
def target(start):
    """Start a `torr target` and return its URL and process."""

    def started(*arguments, **settings):
        process = start("target", *arguments, **settings)
        line = process.stdout.readline()
        assert line.startswith("listening on http://"), process.stderr.read()
        return Target(line.split()[-1], process)

    return started


@pytest.fixture
def steady(target):
    """Start a target that answers after 1 ms, so that torr is not the limit on a busy machine."""
    return target("delay", "--delay", "1ms")


@pytest.fixture
def tmpfs(tmp_path):
    """Mount small file systems, each for a with block."""
    if os.getuid() != 0:
        pytest.skip("only root may mount a file system")
    mounted = []

    @contextmanager
    def mount(options):
        place = tmp_path / f"disk{len(mounted)}"
        place.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], check=True)
        mounted.append(place)
        try:
            yield place
        finally:
            subprocess.run(["umount", place], check=True)

    return mount


@pytest.fixture
def matrix(tmp_path):
    """Write a matrix file; `candidates` has the command of each name, as a list in TOML."""

    def written(candidates, top=QUICK):
        tables = [
            f'[[candidates]]\nname = "{name}"\ncommand = {command}\n'
            for name, command in candidates.items()
        ]
        (tmp_path / "matrix.toml").write_text(top + "\n".join(tables))
        return "matrix.toml"

    return written


@pytest.fixture
def server(tmp_path):
    """Write a server that uses http.server, and return the command that starts it, in TOML."""

    def written(name="server", body=b"Hello world", limit=10**9, setup=""):
        text = SERVER.replace("LIMIT", str(limit)).replace("BODY", repr(body))
        (tmp_path / f"{name}.py").write_text(text.replace("SETUP", setup))
        return f'["{sys.executable}", "{tmp_path}/{name}.py", "{{port}}"]'

    return written
