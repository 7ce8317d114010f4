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

from torr.procfs.tree import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torr.model.url import Url

_CONNECTING_S = 1.5
_ACCEPTING_S = 0.25
_ANSWERING_S = 2.0
_ESTABLISHED = b"01"


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
        accepted = _accepted(port, set(sockets), pids)
        for sock in sockets.values():
            with suppress(OSError):
                sock.sendall(b"\r\n")
        return _answered(port, sockets, pids, accepted)


def _begun(place: Url) -> bytes:
    """A request without the empty line that ends its head."""
    lines = (f"GET {place.target} HTTP/1.1", f"host: {place.place}", "")
    return "\r\n".join(lines).encode("latin-1", "replace")


def _accepted(port: int, from_ports: set[int], pids: Sequence[int]) -> dict[int, int]:
    """The process that accepted each connection, by the port it came from, as far as was seen."""
    deadline = time.monotonic() + _ACCEPTING_S
    while len(_inodes(port, from_ports)) < len(from_ports) and time.monotonic() < deadline:
        time.sleep(0.01)
    return _owners(port, from_ports, pids)


def _answered(
    port: int, sockets: dict[int, socket.socket], pids: Sequence[int], accepted: dict[int, int]
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
        owners = {**accepted, **_owners(port, answered, pids)}
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
    inodes = _inodes(port, from_ports)
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
