"""`torr cluster`, with programs in place of ssh and Ray."""

from __future__ import annotations

import os
import signal
import socket
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from installed import wait_until
from torr.cli.main import torr
from torr.errors import FileError, NothingMeasuredError, UsageError
from torr.sources.cluster_file import read_cluster_file

LAUNCHER = Path(__file__).parents[1] / "local_launcher.py"
RAY = """#!{python}
import socket, sys, time
if "--head" in sys.argv:
    server = socket.create_server(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])))
print("Ray runtime started", flush=True)
time.sleep(120)
"""
# A host is a folder for the state of torr; `gone` does not answer.
SSH = """#!/bin/sh
host=$1; shift
[ "$host" = gone ] && {{ echo "connect to host gone: no route" >&2; exit 255; }}
XDG_STATE_HOME={folder}/$host exec "$@"
"""


def program(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The file of a cluster of two other nodes; what still runs is ended."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "here"))
    monkeypatch.setattr("torr.cluster.cluster.require_ray", lambda: None)
    monkeypatch.setattr("torr.sources.cluster_file.ClusterFile.own_ray", str(tmp_path / "ray"))
    program(tmp_path / "ray", RAY.format(python=sys.executable))
    program(tmp_path / "ssh", SSH.format(folder=tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port = bound.getsockname()[1]

    def write(*nodes, ray="ray"):
        names = ", ".join(f'"{name}"' for name in nodes)
        file = tmp_path / "nodes.toml"
        file.write_text(
            f'head = "127.0.0.1"\nport = {port}\nnodes = [{names}]\n'
            f'ray = "{tmp_path / ray}"\nssh = "{tmp_path / "ssh"}"\n'
        )
        return file

    write.folder = tmp_path
    yield write
    for pid in processes(tmp_path).values():
        os.kill(pid, signal.SIGKILL)


def processes(folder):
    """The recorded processes by host that run."""
    files = folder.glob("*/torr/ray-*.pid")
    found = {file.parents[1].name: int(file.read_text()) for file in files}
    return {host: pid for host, pid in found.items() if is_running(pid)}


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def call(*words):
    return CliRunner().invoke(torr, ["cluster", *map(str, words)], catch_exceptions=False)


def test_a_cluster_starts_once_and_ends(place):
    file = place("a", "b")
    assert call("up", file).output.splitlines()[:3] == [
        "127.0.0.1: Ray started",
        "a: Ray started",
        "b: Ray started",
    ]
    first = processes(place.folder)
    assert set(first) == {"here", "a", "b"}
    assert call("up", file).output.count("Ray was running") == 3
    assert processes(place.folder) == first
    assert call("down", file).output.count("Ray ended") == 3
    assert wait_until(lambda: not any(map(is_running, first.values())))
    assert call("down", file).output.count("Ray was not running") == 3


def test_a_node_that_does_not_answer_is_named(place):
    file = place("a", "gone")
    with pytest.raises(NothingMeasuredError, match="Ray did not start on 1 of 3 nodes"):
        call("up", file)
    assert set(processes(place.folder)) == {"here", "a"}
    with pytest.raises(NothingMeasuredError, match="Ray may still run on gone"):
        call("down", file)
    assert processes(place.folder) == {}


def test_a_node_without_ray_says_so(place):
    file = place("a", ray="missing")
    runner = CliRunner()
    ended = runner.invoke(torr, ["cluster", "up", str(file)])
    assert isinstance(ended.exception, NothingMeasuredError)
    assert "a: " in ended.output
    assert "missing: not found" in ended.output


def test_the_log_of_a_ray_that_ends_is_printed(place):
    program(place.folder / "broken", "#!/bin/sh\necho the port is in use; exit 3\n")
    ended = CliRunner().invoke(torr, ["cluster", "up", str(place("a", ray="broken"))])
    assert isinstance(ended.exception, NothingMeasuredError)
    assert "a: the port is in use" in ended.output


def test_a_process_that_is_not_ray_is_left_alone(place):
    file = place("a")
    port = read_cluster_file(file).port
    for host in ("here", "a"):
        state = place.folder / host / "torr"
        state.mkdir(parents=True)
        (state / f"ray-{port}.pid").write_text(f"{os.getppid()}")
    assert call("down", file).output.count("Ray was not running") == 2
    assert is_running(os.getppid())


def test_status_names_what_is_missing(place, monkeypatch):
    command = [sys.executable, str(LAUNCHER), "here,a"]
    monkeypatch.setattr("torr.cluster.cluster.launcher_command", lambda _address: command)
    listed = call("status", place("a")).output.splitlines()
    assert listed[0].split() == ["node", "address", "cores"]
    assert [line.split()[0] for line in listed[1:3]] == ["a", "here"]
    assert listed[3] == "all nodes are there"
    with pytest.raises(NothingMeasuredError, match="1 of 3 nodes are missing: b"):
        call("status", place("a", "b"))
    # Another node does not take the place of a machine that is missing.
    with pytest.raises(NothingMeasuredError, match=r"1 of 2 nodes are missing: 127\.0\.0\.9"):
        call("status", place("127.0.0.9"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('head = "192.0.2.1"\nnodes = ["a"]', "1: head = '192.0.2.1': this is no address of this"),
        ('nodes = ["a"]', "head is missing"),
        ('head = "127.0.0.1"\nnodes = []', "2: nodes are not a list of hosts"),
        ('head = "127.0.0.1"\nnodes = "a"', "2: nodes are not a list of hosts"),
        ('head = "127.0.0.1"\nnodes = ["-oProxyCommand=x"]', "'-oProxyCommand=x' is no host"),
        ('head = "127.0.0.1"\nnodes = ["a"]\nuser = "x"', "3: "),
        ('head = "127.0.0.1"\nnodes = ["a"]\nport = 70000', "3: port = 70000"),
    ],
)
def test_a_wrong_file_is_refused_at_its_line(tmp_path, text, says):
    file = tmp_path / "nodes.toml"
    file.write_text(text + "\n")
    with pytest.raises(FileError) as error:
        read_cluster_file(file)
    assert says in error.value.text


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(UsageError):
        call("up", tmp_path / "nodes.toml")
