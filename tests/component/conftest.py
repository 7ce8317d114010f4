"""The installed `torr`, called as a user would, against its own targets on loopback."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager

import pytest

from candidates import QUICK, SERVER
from installed import TORR, Ended, Target


@pytest.fixture
def torr(tmp_path):
    """Run a `torr` command to its end in an empty directory."""

    def run(*arguments, **settings):
        ended = subprocess.run(
            [TORR, *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=120,
            check=False,
            **settings,
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr, tmp_path)

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
    """Start a `torr target`."""

    def started(*arguments, **settings):
        process = start("target", *arguments, **settings)
        line = process.stdout.readline()
        assert line.startswith("listening on http://"), process.stderr.read()
        return Target(line.split()[-1], process)

    return started


@pytest.fixture
def steady(target):
    """A target that answers after 1 ms: torr is not the limit, on a busy machine either."""
    return target("delay", "--delay", "1ms")


@pytest.fixture
def tmpfs(tmp_path):
    """Mount small file systems, gone at the end of the test."""
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
    """Writes a matrix of candidates by name: each a list of words in TOML."""

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
    """Writes a server of Python's own library, and the command that starts it."""

    def written(name="server", body=b"Hello world", limit=10**9, setup=""):
        text = SERVER.replace("LIMIT", str(limit)).replace("BODY", repr(body))
        (tmp_path / f"{name}.py").write_text(text.replace("SETUP", setup))
        return f'["{sys.executable}", "{tmp_path}/{name}.py", "{{port}}"]'

    return written
