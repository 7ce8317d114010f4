"""Examples run as a reader would run them: from the shell, in an empty directory."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess

import pytest

from documents import ROOT
from installed import TORR, Ended, wait_until

EXAMPLES = ROOT / "examples"


@pytest.fixture
def example(tmp_path):
    """Run an example to its end; settings are environment variables."""

    def run(name, *arguments, **settings):
        path = f"{TORR.parent}{os.pathsep}{os.environ['PATH']}"
        runs = {"locust_": ["torr", "locust", "-f"], "read_": ["python3"]}
        interpreter = next((runs[begin] for begin in runs if name.startswith(begin)), [])
        ended = subprocess.run(
            [*interpreter, EXAMPLES / name, *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PATH": path, "DURATION": "300ms", **settings},
            timeout=120,
            check=False,
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr, tmp_path)

    return run


@pytest.fixture
def serve(tmp_path):
    """Start a server that says `listening on URL`; the URL and the file of all that it says.

    It is killed at the end of the test.
    """
    processes = []

    def started(*command):
        log = tmp_path / f"server{len(processes)}.log"
        with log.open("w") as output:
            processes.append(subprocess.Popen(list(map(str, command)), stdout=output))
        line = wait_until(lambda: re.match(r"listening on (http://\S+)\n", log.read_text()))
        return line[1], log

    yield started
    for process in processes:
        process.kill()
        process.wait()


@pytest.fixture
def quick(serve):
    """The URL of a target that answers after 1 ms: torr is not the limit on a busy machine."""
    url, _ = serve(TORR, "target", "delay", "--delay", "1ms")
    return url


@pytest.fixture(scope="session")
def go_servers(tmp_path_factory):
    """Build the servers in Go; where they are."""
    if shutil.which("go") is None:
        pytest.skip("Go is not installed")
    source = EXAMPLES / "servers"
    fetched = subprocess.run(
        ["go", "mod", "download"], cwd=source, capture_output=True, text=True, check=False
    )
    if fetched.returncode != 0:
        pytest.skip(f"Go's modules cannot be fetched: {fetched.stderr[-200:]}")
    folder = tmp_path_factory.mktemp("servers")
    subprocess.run(["go", "build", "-o", f"{folder}/", "./bare", "./slow"], cwd=source, check=True)
    return folder


@pytest.fixture
def free_ports():
    """Two ports that nobody listens at."""
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]
