"""Find out which processes of a server accept connections and answer requests.

Several connections are opened at once. /proc maps the inode of an accepted connection's socket to
a process. All but the last bytes of a request are sent on each connection, so that a server that
defers accepting until data arrives accepts, too. The rest follows when the holders are known.
"""

from __future__ import annotations

import os
import select
import socket
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from torr.procfs.sockets import accepted, holders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.url import Url

_CONNECTING_S = 1.5
_ACCEPTING_S = 0.25
_ANSWERING_S = 2.0


def answering_processes(url: Url, port: int, pids: Sequence[int], connections: int) -> set[int]:
    """Return the processes that answered on that many connections at once; takes 4 s at most."""
    host = url.host.strip("[]")
    deadline = time.monotonic() + _CONNECTING_S
    with ExitStack() as stack:
        sockets: dict[int, socket.socket] = {}
        for _ in range(connections):
            rest = deadline - time.monotonic()
            if rest <= 0:
                break
            with suppress(OSError):
                sock = stack.enter_context(socket.create_connection((host, port), timeout=rest))
                sock.sendall(_request_head(url))
                sockets[sock.getsockname()[1]] = sock
        acceptors = _acceptors(port, set(sockets), pids)
        for sock in sockets.values():
            with suppress(OSError):
                sock.sendall(b"\r\n")
        return _responders(port, sockets, pids, acceptors)


def _request_head(url: Url) -> bytes:
    """Return a request without the empty line that ends its head."""
    lines = (f"GET {url.target} HTTP/1.1", f"host: {url.address}", "")
    return "\r\n".join(lines).encode("latin-1", "replace")


def _acceptors(port: int, from_ports: set[int], pids: Sequence[int]) -> dict[int, int]:
    """Return the pids that accepted the connections, by the client's port, where visible."""
    deadline = time.monotonic() + _ACCEPTING_S
    while len(accepted(port, from_ports)) < len(from_ports) and time.monotonic() < deadline:
        time.sleep(0.01)
    return _holders_by_port(port, from_ports, pids)


def _responders(
    port: int, sockets: dict[int, socket.socket], pids: Sequence[int], acceptors: dict[int, int]
) -> set[int]:
    """Return the processes that hold a connection when it is answered, or else accepted it.

    The two differ where a parent accepts for its children and passes connections on.
    """
    answering = set()
    waiting = {sock.fileno(): from_port for from_port, sock in sockets.items()}
    poller = select.poll()
    for file in waiting:
        poller.register(file, select.POLLIN)
    deadline = time.monotonic() + _ANSWERING_S
    while waiting and (rest := deadline - time.monotonic()) > 0:
        ready = [file for file, _ in poller.poll(rest * 1000)]
        answered = {waiting[file] for file in ready if _response_begins(file)}
        owners = {**acceptors, **_holders_by_port(port, answered, pids)}
        answering |= {owners[from_port] for from_port in answered if from_port in owners}
        for file in ready:
            poller.unregister(file)
            # A server that serves one connection at a time waits for the end of this one.
            sockets[waiting.pop(file)].close()
    return answering


def _response_begins(file: int) -> bool:
    with suppress(OSError):
        return os.read(file, 5) == b"HTTP/"
    return False


def _holders_by_port(port: int, from_ports: set[int], pids: Sequence[int]) -> dict[int, int]:
    """Return the pids that hold the server's end of open connections, by the client's port."""
    inodes = accepted(port, from_ports)
    owners = holders(set(inodes.values()), pids)
    return {port: owners[inode] for port, inode in inodes.items() if inode in owners}
