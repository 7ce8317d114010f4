"""Lines of JSON over a connection, and the options of connections between machines."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import BinaryIO

MOST_LINE_BYTES = 1 << 16
"""Longer lines are not from torr."""
SILENCE_S = 2
"""After this time without a sign of life, the other machine or the network counts as lost."""


def prepare(connection: socket.socket) -> None:
    """Send at once, and notice within SILENCE_S that the other machine is gone."""
    tcp = socket.IPPROTO_TCP
    connection.setsockopt(tcp, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connection.setsockopt(tcp, socket.TCP_KEEPIDLE, 1)
    connection.setsockopt(tcp, socket.TCP_KEEPINTVL, 1)
    connection.setsockopt(tcp, socket.TCP_KEEPCNT, SILENCE_S)
    connection.setsockopt(tcp, socket.TCP_USER_TIMEOUT, 1000 * SILENCE_S)


def send_line(connection: socket.socket, message: dict[str, Any]) -> None:
    """Send a message as a line of JSON."""
    connection.sendall(json.dumps(message).encode() + b"\n")


def read_line(reader: BinaryIO, most_bytes: int = MOST_LINE_BYTES) -> dict[str, Any] | None:
    """Return the next message; None at the end, or after a line that is not a JSON object."""
    line = reader.readline(most_bytes)
    return _message(line)


def read_first_line(connection: socket.socket) -> dict[str, Any] | None:
    """Return the first message, and leave all bytes after it in the connection."""
    line = bytearray()
    while not line.endswith(b"\n") and len(line) < MOST_LINE_BYTES:
        byte = connection.recv(1)
        if not byte:
            return None
        line += byte
    return _message(line)


def _message(line: bytes | bytearray) -> dict[str, Any] | None:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None
