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
from pathlib import Path
from typing import TYPE_CHECKING

from torr.servers.tree import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torr.model.url import Url

_ACCEPTING_S = 0.25
_ANSWERING_S = 2.0
_ESTABLISHED = b"01"


def answering(place: Url, port: int, pids: Sequence[int], connections: int) -> set[int]:
    """Which of the processes answered on so many connections at once; bounded to 3 s."""
    host = place.host.strip("[]")
    with ExitStack() as held:
        sockets = {}
        for _ in range(connections):
            with suppress(OSError):
                sock = held.enter_context(socket.create_connection((host, port), timeout=1))
                sock.sendall(_begun(place))
                sockets[sock.getsockname()[1]] = sock
        owners = _owners(port, set(sockets), pids)
        asked = {}
        for from_port, sock in sockets.items():
            with suppress(OSError):
                sock.sendall(b"\r\n")
                asked[sock.fileno()] = from_port
        return {owners[from_port] for from_port in _answered(asked) if from_port in owners}


def _begun(place: Url) -> bytes:
    """A request without the empty line that ends its head."""
    lines = (f"GET {place.target} HTTP/1.1", f"host: {place.place}", "connection: close", "")
    return "\r\n".join(lines).encode("latin-1", "replace")


def _owners(port: int, from_ports: set[int], pids: Sequence[int]) -> dict[int, int]:
    """The process that accepted each connection, by the port it came from, as far as was seen."""
    deadline = time.monotonic() + _ACCEPTING_S
    while True:
        inodes = _inodes(port, from_ports)
        if len(inodes) == len(from_ports) or time.monotonic() > deadline:
            break
        time.sleep(0.01)
    holders = _holders(set(inodes.values()), pids)
    return {each: holders[inode] for each, inode in inodes.items() if inode in holders}


def _inodes(port: int, from_ports: set[int]) -> dict[int, int]:
    """The sockets of the server's ends, by the ports they lead to; 0 is not accepted yet."""
    found = {}
    for path in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in read(path).splitlines()[1:]:
            fields = line.split()
            if fields[3] != _ESTABLISHED or int(fields[1].rpartition(b":")[2], 16) != port:
                continue
            from_port = int(fields[2].rpartition(b":")[2], 16)
            if from_port in from_ports and int(fields[9]):
                found[from_port] = int(fields[9])
    return found


def _holders(inodes: Iterable[int], pids: Sequence[int]) -> dict[int, int]:
    """Who holds each socket; of several the last, since a parent that passes one on is first."""
    wanted = {f"socket:[{inode}]": inode for inode in inodes}
    found = {}
    for pid in pids:
        with suppress(OSError):
            for file in Path(f"/proc/{pid}/fd").iterdir():
                with suppress(OSError):
                    inode = wanted.get(str(file.readlink()))
                    if inode is not None:
                        found[inode] = pid
    return found


def _answered(asked: dict[int, int]) -> set[int]:
    """The ports whose connections got the beginning of an answer."""
    poller = select.poll()
    for file in asked:
        poller.register(file, select.POLLIN)
    waiting, answered = set(asked), set()
    deadline = time.monotonic() + _ANSWERING_S
    while waiting and (rest := deadline - time.monotonic()) > 0:
        for file, _ in poller.poll(rest * 1000):
            with suppress(OSError):
                if os.read(file, 5) == b"HTTP/":
                    answered.add(asked[file])
            poller.unregister(file)
            waiting.discard(file)
    return answered
