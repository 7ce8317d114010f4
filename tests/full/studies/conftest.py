"""The candidates of the studies, each in the environment that its study makes."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from installed import wait_until
from matrices import SCRIPT, STUDIES, candidates, read

RUNTIMES = {
    "litefs": ["python3"],
    "proxy": ["node", "npm", "go"],
    "healthz": ["go"],
    "tuning": ["python3"],
}


@dataclass(frozen=True)
class Answer:
    """What a server said."""

    status: int
    content_type: str
    body: bytes


@dataclass
class Server:
    """A candidate that was started in a session of its own; `process` leads it."""

    process: subprocess.Popen
    port: int
    path: str
    scratch: Path

    def ask(self, method="GET", path=None, body=None, headers=None):
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path or self.path, body, headers or {})
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers["content-type"], answer.read())
        finally:
            connection.close()

    def answers(self):
        """Whether it does; it must not have ended."""
        assert self.process.poll() is None, "it ended"
        try:
            return self.ask().status == 200
        except OSError:
            return False

    def stop(self):
        """Ask it to end, and again: LiteFS may lose the first one; its exit code."""
        for _ in range(5):
            self.process.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                return self.process.wait(timeout=10)
        raise AssertionError("it does not stop")

    def is_gone(self):
        """Whether no process of it is left and nobody listens."""
        with socket.socket() as probe:
            refused = probe.connect_ex(("127.0.0.1", self.port)) != 0
        return refused and not _leads_a_session(self.process.pid)


def _leads_a_session(leader):
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            return True
    return False


@pytest.fixture(scope="session")
def environment():
    """The environment variables of a study, which is made where it is not there yet."""
    made = {}

    def of(study):
        if study not in made:
            for runtime in RUNTIMES[study]:
                if shutil.which(runtime) is None:
                    pytest.skip(f"{runtime} is not installed")
            made[study] = _prepared(study)
        return made[study]

    return of


def _prepared(study):
    said = subprocess.run(
        [SCRIPT, study, "--", "env", "-0"], capture_output=True, timeout=600, check=False
    )
    assert said.returncode == 0, said.stderr.decode()[-500:]
    pairs = (line.split("=", 1) for line in said.stdout.decode().split("\0") if "=" in line)
    return dict(pairs)


@pytest.fixture
def start(environment, tmp_path):
    """Start a candidate of a study's short matrix; `env` goes before the matrix's own."""
    servers = []

    def started(study, name, processes=1, **env):
        matrix = read(study, "short.toml")
        candidate = next(each for each in candidates(matrix) if each["name"] == name)
        port = _free_port()
        factors = {key: values[0] for key, values in matrix["factors"].items()}
        values = {**factors, "port": port, "scratch": tmp_path, "processes": processes}
        said = {key: _filled(text, values) for key, text in candidate.get("env", {}).items()}
        with (tmp_path / "log").open("ab") as log:
            process = subprocess.Popen(
                [_filled(word, values) for word in candidate["command"]],
                env={**os.environ, **environment(study), **said, **env},
                cwd=STUDIES / study / candidate.get("cwd", "."),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        server = Server(process, port, urlsplit(candidate["url"]).path, tmp_path)
        servers.append(server)
        wait_until(server.answers, 60)
        return server

    yield started
    for server in servers:
        if _leads_a_session(server.process.pid):
            os.killpg(server.process.pid, signal.SIGKILL)
        server.process.wait()


def _filled(text, values):
    for key, value in values.items():
        text = text.replace(f"{{{key}}}", str(value))
    return text


def _free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
