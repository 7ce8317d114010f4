"""Find the processes that have sockets open, and the connections that a server has accepted."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from torr.procfs.files import Root, read
from torr.procfs.process import descriptor_limit, name_of
from torr.procfs.stat import pids

_ESTABLISHED = b"01"


@dataclass(frozen=True, slots=True)
class SocketHolder:
    """A process that has a socket open; `descriptors` is how many files it may have open."""

    pid: int
    name: str
    descriptors: int | None


def holder_of(inode: int, root: Root = "") -> SocketHolder | None:
    """Return the first process that has a socket open; None where none can be read."""
    for pid in sorted(pids(root)):
        if inode in _sockets_of(pid, root):
            return SocketHolder(pid, name_of(pid, root), descriptor_limit(pid, root))
    return None


def holders(inodes: Collection[int], of: Iterable[int]) -> dict[int, int]:
    """Return the process that has each socket open, by inode.

    If several have it, the last one is returned: parents, which pass sockets on, come first.
    """
    return {inode: pid for pid in of for inode in _sockets_of(pid) if inode in inodes}


def accepted(port: int, from_ports: Collection[int]) -> dict[int, int]:
    """Return the server's sockets of connections to a port, by the port that each comes from.

    A connection that the server has not accepted yet has no socket, and is left out.
    """
    inodes = {}
    for path in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in read(path).splitlines()[1:]:
            fields = line.split()
            if fields[3] != _ESTABLISHED or _port(fields[1]) != port:
                continue
            from_port, inode = _port(fields[2]), int(fields[9])
            if from_port in from_ports and inode:
                inodes[from_port] = inode
    return inodes


def _port(address: bytes) -> int:
    return int(address.rpartition(b":")[2], 16)


def _sockets_of(pid: int, root: Root = "") -> Iterator[int]:
    """Yield the inodes of the sockets that a process has open, as far as they can be read."""
    folder = f"{root}/proc/{pid}/fd"
    with suppress(OSError):
        for name in os.listdir(folder):
            with suppress(OSError):  # closed since it was listed
                target = os.readlink(f"{folder}/{name}")
                if target.startswith("socket:["):
                    yield int(target[8:-1])
