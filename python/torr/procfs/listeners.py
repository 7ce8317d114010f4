"""Who listens on a port of this machine, and how long its queue of new connections is.

The kernel is asked over netlink (sock_diag(7)), as `ss -ltn` does: no other file tells the length
that a server gave to listen(). Where that is refused nothing is known. No packet is sent.
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_REQUEST_DUMP = 0x301
_ERROR, _DONE = 2, 3
_LISTEN = 10
_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBBI48x")
# inet_diag_msg: of a listening socket the two queues are what waits and what may wait.
_ANSWER = struct.Struct("=B3x 2s2x 16s16x 12x 4xII4xI")

Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class ListeningSocket:
    """One listening socket: what waits to be accepted, and how much may wait."""

    address: Address
    port: int
    waiting: int
    backlog: int
    inode: int

    def hears(self, address: Address) -> bool:
        """Whether what goes to this address arrives here."""
        if self.address.is_unspecified:
            return self.address.version == 6 or address.version == 4
        return self.address == address


def listeners(port: int) -> list[ListeningSocket] | None:
    """Every socket that listens on a port; None where the kernel does not tell."""
    try:
        return [found for family in (4, 6) for found in _of_family(family) if found.port == port]
    except OSError:
        return None


def addresses(host: str, port: int) -> list[Address]:
    """The addresses of a host, without brackets; none where it is unknown."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return list(dict.fromkeys(ip_address(str(place[0]).partition("%")[0]) for *_, place in found))


def is_own(address: Address) -> bool:
    """Whether an address is one of this machine's: only then a socket can be bound to it."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((str(address), 0))
        except OSError:
            return False
        return True


def _of_family(version: int) -> list[ListeningSocket]:
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    body = _REQUEST.pack(family, socket.IPPROTO_TCP, 0, 0, 1 << _LISTEN)
    head = _HEADER.pack(_HEADER.size + len(body), _SOCK_DIAG_BY_FAMILY, _REQUEST_DUMP, 0, 0)
    found: list[ListeningSocket] = []
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(1)
        kernel.sendto(head + body, (0, 0))
        while _read(kernel.recv(1 << 16), found):
            pass
    return found


def _read(content: bytes, found: list[ListeningSocket]) -> bool:
    """Take in a datagram of messages; whether more will come."""
    while len(content) >= _HEADER.size:
        length, kind, *_ = _HEADER.unpack_from(content)
        if kind == _ERROR:
            raise OSError("the kernel does not tell who listens")
        if kind == _DONE:
            return False
        found.append(_listener(content[_HEADER.size : length]))
        content = content[(length + 3) & ~3 :]
    return True


def _listener(message: bytes) -> ListeningSocket:
    family, port, source, waiting, backlog, inode = _ANSWER.unpack_from(message)
    raw = source[:4] if family == socket.AF_INET else source
    return ListeningSocket(ip_address(raw), int.from_bytes(port, "big"), waiting, backlog, inode)
