"""Free ports, and who listens on taken ones."""

from __future__ import annotations

import os
import socket

import pytest

from torr.procfs.machine import Machine
from torr.servers import ports
from torr.servers.failure import TrialError
from torr.servers.ports import check_free, check_socket_free, port_listeners, reserved_port


def listening(port, *, shares=False):
    sock = socket.socket()
    if shares:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    sock.bind(("127.0.0.1", port))
    sock.listen()
    return sock


def test_a_claimed_port_is_free_and_no_other_claim_gets_it(monkeypatch):
    with reserved_port() as port:
        assert port_listeners(port) == []
        listening(port).close()
        monkeypatch.setattr(ports, "_choices", lambda: range(port, port + 2))
        with reserved_port() as other:
            assert other == port + 1


def test_a_claimed_port_is_none_that_the_kernel_gives_away():
    low, high = ports.machine().port_range
    with reserved_port() as port:
        assert not low <= port <= high


@pytest.mark.parametrize(
    ("port_range", "expected"),
    [
        ((32768, 60999), range(10_000, 32768)),
        ((11_000, 40_000), range(40_001, 65_536)),
        ((1024, 65535), range(10_000, 65_536)),
        (None, range(10_000, 65_536)),
    ],
)
def test_the_larger_part_outside_of_the_kernels_range_is_used(monkeypatch, port_range, expected):
    known = Machine(cores=1, cores_allowed=1, descriptors=(1, 1), port_range=port_range)
    monkeypatch.setattr(ports, "machine", lambda: known)
    assert ports._choices() == expected


def test_a_unix_socket_at_which_another_server_listens_is_taken(tmp_path):
    path = str(tmp_path / "app.sock")
    check_socket_free(None, "app")
    check_socket_free(path, "app")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen(0)
        for _ in range(3):  # the queue of connections is full then
            with pytest.raises(TrialError, match=f"app: another process listens at {path}") as got:
                check_socket_free(path, "app")
            assert got.value.kind == "port_taken"
    # What a server left behind.
    check_socket_free(path, "app")


def test_everybody_who_shares_a_port_is_seen_with_process_and_command():
    with reserved_port() as port, listening(port, shares=True), listening(port, shares=True):
        found = port_listeners(port)
        assert [each.pid for each in found] == [os.getpid()] * 2
        assert f"(pid {os.getpid()}) at 127.0.0.1:{port}" in str(found[0])
        with pytest.raises(TrialError, match=f"app: port {port} is taken by ") as caught:
            check_free(port, "app")
        assert caught.value.kind == "port_taken"
    check_free(port, "app")
    check_free(None, "app")


def test_where_the_kernel_does_not_tell_a_connection_does(monkeypatch):
    monkeypatch.setattr(ports, "listeners", lambda _port: None)
    with reserved_port() as port:
        assert port_listeners(port) == []
        with listening(port):
            [found] = port_listeners(port)
            assert str(found) == f"a process at 127.0.0.1:{port}"
