"""A server of llama.cpp per module, and runs of torr against it."""

from __future__ import annotations

import subprocess

import pytest

from installed import TORR, Ended
from llama_server import llama_server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with llama_server(tmp_path_factory.mktemp("model")) as running:
        yield running


@pytest.fixture
def run(tmp_path, server):
    """Return a function that sends load to the server: the level, and what the server counted."""

    def ran(*words, path=""):
        before = server.counts()
        # The server closes a connection after a stream, although it says that it keeps it open.
        command = [TORR, "run", "--no-keepalive", "--timeout", "2m", "--drain", "2m", *words]
        ended = subprocess.run(
            [*map(str, command), server.url + path],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=600,
            check=False,
        )
        level = Ended(ended.returncode, ended.stdout, ended.stderr, tmp_path).level
        assert not level["counts"]["errors"], level["samples"]
        return level, server.counts() - before

    return ran
