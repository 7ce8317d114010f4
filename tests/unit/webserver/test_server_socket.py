"""Where pages listen."""

from __future__ import annotations

import socket

import pytest

from torr.errors import UsageError
from torr.webserver.server import Address, ServerSocket


def test_a_taken_port_is_changed_for_a_free_one_unless_it_was_asked_for():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        address = Address(port, "--host", "--port")
        server_socket = ServerSocket("127.0.0.1", None, address)
        server_socket.socket.close()
        assert server_socket.port != port
        with pytest.raises(
            UsageError, match=rf"--host 127.0.0.1 --port {port}: cannot be listened on"
        ):
            ServerSocket("127.0.0.1", port, address)


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.host.invalid"])
def test_an_address_of_another_machine_is_refused(host):
    with pytest.raises(UsageError, match=f"--live-host {host}"):
        ServerSocket(host, None)
