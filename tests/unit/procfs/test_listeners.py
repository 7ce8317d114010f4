"""Who listens: asked of the kernel, about sockets that the test holds."""

from __future__ import annotations

import os
import socket
from ipaddress import ip_address

import pytest

from installed import wait_until
from torr.procfs.listeners import addresses, is_own, listeners
from torr.procfs.sockets import holder_of


@pytest.fixture
def listen():
    """Listen at an address; the port."""
    held = []

    def listening(host, backlog):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        held.append(socket.socket(family))
        held[-1].bind((host, 0))
        held[-1].listen(backlog)
        return held[-1].getsockname()[1]

    yield listening
    for each in held:
        each.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "::1", "::"])  # noqa: S104
def test_a_listener_is_found_with_its_queue_and_its_process(listen, host):
    port = listen(host, 17)
    [found] = listeners(port)
    assert (found.address, found.port, found.backlog) == (ip_address(host), port, 17)
    assert found.waiting == 0
    process = holder_of(found.inode)
    assert process.pid == os.getpid()
    assert process.descriptors > 0


def test_connections_that_nobody_accepts_are_seen_to_wait(listen):
    port = listen("127.0.0.1", 17)
    with socket.create_connection(("127.0.0.1", port)):
        wait_until(lambda: [found.waiting for found in listeners(port)] == [1])


@pytest.mark.parametrize(
    ("host", "to", "accepts"),
    [
        ("127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1", "127.0.0.2", False),
        ("0.0.0.0", "127.0.0.2", True),  # noqa: S104
        ("0.0.0.0", "::1", False),  # noqa: S104
        ("::", "::1", True),
        ("::", "127.0.0.1", True),
        ("::1", "127.0.0.1", False),
    ],
)
def test_a_listener_hears_its_own_address(listen, host, to, accepts):
    [found] = listeners(listen(host, 1))
    assert found.accepts(ip_address(to)) == accepts


def test_where_nobody_listens_nobody_is_found():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        assert listeners(bound.getsockname()[1]) == []


def test_a_kernel_that_does_not_tell_is_no_error(monkeypatch):
    def refuse(*_arguments):
        raise PermissionError("netlink is not allowed here")

    monkeypatch.setattr(socket, "socket", refuse)
    assert listeners(80) is None


def test_own_addresses_are_told_from_others():
    assert is_own(ip_address("127.0.0.1"))
    assert is_own(ip_address("127.8.8.8"))
    assert not is_own(ip_address("192.0.2.1"))


def test_a_name_has_addresses_and_an_unknown_one_has_none():
    assert ip_address("127.0.0.1") in addresses("localhost", 80)
    assert addresses("::1", 80) == [ip_address("::1")]
    assert addresses("no-such-host.invalid", 80) == []
