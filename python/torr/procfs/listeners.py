"""List the sockets that listen on a port of this machine, with their accept queues.

They are read from the kernel over netlink (sock_diag(7)), like by `ss -ltn`: only there is the
backlog that a server passed to listen(). No packet is sent.
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
# inet_diag_msg: for a listening socket, the two queues are waiting connections and backlog.
_ANSWER = struct.Struct("=B3x 2s2x 16s16x 12x 4xII4xI")

Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class ListeningSocket:
    """One listening socket, with the connections that wait to be accepted and their limit."""

    address: Address
    port: int
    waiting: int
    backlog: int
    inode: int

    def accepts(self, address: Address) -> bool:
        """Return whether the socket accepts connections to an address."""
        if self.address.is_unspecified:
            return self.address.version == 6 or address.version == 4
        return self.address == address


def listeners(port: int) -> list[ListeningSocket] | None:
    """Return the sockets that listen on a port; None if the kernel refuses the request."""
    try:
        return [sock for version in (4, 6) for sock in _all(version) if sock.port == port]
    except OSError:
        return None


def addresses(host: str, port: int) -> list[Address]:
    """Return the addresses of a host, without brackets; none if it is unknown."""
    try:
        entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        return []
    texts = (str(sockaddr[0]).partition("%")[0] for *_, sockaddr in entries)
    return list(dict.fromkeys(map(ip_address, texts)))


def is_own(address: Address) -> bool:
    """Return whether an address belongs to this machine: only then a socket can be bound to it."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((str(address), 0))
        except OSError:
            return False
        return True


def _all(version: int) -> list[ListeningSocket]:
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    body = _REQUEST.pack(family, socket.IPPROTO_TCP, 0, 0, 1 << _LISTEN)
    head = _HEADER.pack(_HEADER.size + len(body), _SOCK_DIAG_BY_FAMILY, _REQUEST_DUMP, 0, 0)
    sockets: list[ListeningSocket] = []
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(1)
        kernel.sendto(head + body, (0, 0))
        while _read(kernel.recv(1 << 16), sockets):
            pass
    return sockets


def _read(content: bytes, sockets: list[ListeningSocket]) -> bool:
    """Add the sockets of a datagram; return whether more datagrams will follow."""
    while len(content) >= _HEADER.size:
        length, kind, *_ = _HEADER.unpack_from(content)
        if kind == _ERROR:
            raise OSError("the kernel does not show which process listens")
        if kind == _DONE:
            return False
        sockets.append(_listener(content[_HEADER.size : length]))
        content = content[(length + 3) & ~3 :]
    return True


def _listener(message: bytes) -> ListeningSocket:
    family, port, source, waiting, backlog, inode = _ANSWER.unpack_from(message)
    raw = source[:4] if family == socket.AF_INET else source
    return ListeningSocket(ip_address(raw), int.from_bytes(port, "big"), waiting, backlog, inode)
