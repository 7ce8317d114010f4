"""Which processes accept connections and answer: found by asking on several at once.

A connection that was accepted belongs to a process, which /proc tells by the inode of its socket.
All but the last bytes of a request are sent on each, so that even a server that is only woken by
data accepts; when the owners are known the rest follows, and who answers counts.
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


def answering(place: Url, port: int, pids: Sequence[int], connections: int) -> set[int]:
    """Which of the processes answered on so many connections at once; bounded to 4 s."""
    host = place.host.strip("[]")
    deadline = time.monotonic() + _CONNECTING_S
    with ExitStack() as held:
        sockets: dict[int, socket.socket] = {}
        for _ in range(connections):
            rest = deadline - time.monotonic()
            if rest <= 0:
                break
            with suppress(OSError):
                sock = held.enter_context(socket.create_connection((host, port), timeout=rest))
                sock.sendall(_begun(place))
                sockets[sock.getsockname()[1]] = sock
        acceptors = _acceptors(port, set(sockets), pids)
        for sock in sockets.values():
            with suppress(OSError):
                sock.sendall(b"\r\n")
        return _answered(port, sockets, pids, acceptors)


def _begun(place: Url) -> bytes:
    """A request without the empty line that ends its head."""
    lines = (f"GET {place.target} HTTP/1.1", f"host: {place.address}", "")
    return "\r\n".join(lines).encode("latin-1", "replace")


def _acceptors(port: int, from_ports: set[int], pids: Sequence[int]) -> dict[int, int]:
    """The process that accepted each connection, by the port it came from, as far as was seen."""
    deadline = time.monotonic() + _ACCEPTING_S
    while len(accepted(port, from_ports)) < len(from_ports) and time.monotonic() < deadline:
        time.sleep(0.01)
    return _owners(port, from_ports, pids)


def _answered(
    port: int, sockets: dict[int, socket.socket], pids: Sequence[int], acceptors: dict[int, int]
) -> set[int]:
    """Who answered: who holds the connection then, or accepted it, if it is closed by then.

    A parent may accept for its children and pass connections on.
    """
    answering = set()
    waiting = {sock.fileno(): from_port for from_port, sock in sockets.items()}
    poller = select.poll()
    for file in waiting:
        poller.register(file, select.POLLIN)
    deadline = time.monotonic() + _ANSWERING_S
    while waiting and (rest := deadline - time.monotonic()) > 0:
        ready = [file for file, _ in poller.poll(rest * 1000)]
        answered = {waiting[file] for file in ready if _begins_an_answer(file)}
        owners = {**acceptors, **_owners(port, answered, pids)}
        answering |= {owners[each] for each in answered if each in owners}
        for file in ready:
            poller.unregister(file)
            sockets[waiting.pop(file)].close()  # whoever serves one at a time waits for it
    return answering


def _begins_an_answer(file: int) -> bool:
    with suppress(OSError):
        return os.read(file, 5) == b"HTTP/"
    return False


def _owners(port: int, from_ports: set[int], pids: Sequence[int]) -> dict[int, int]:
    """Who holds the server's end of each connection that is still open."""
    inodes = accepted(port, from_ports)
    owners = holders(set(inodes.values()), pids)
    return {each: owners[inode] for each, inode in inodes.items() if inode in owners}
