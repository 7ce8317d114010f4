"""Requests as bytes: a head from fields, a body from any value that a locustfile passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torr.locust.pools import PORTS, ConnectionRoute

if TYPE_CHECKING:
    from collections.abc import Mapping

CHUNK_BYTES = 16 * 1024


def head_of(
    method: str, target: str, route: ConnectionRoute, headers: Mapping[str, Any], *, chunked: bool
) -> bytes:
    """Return the head as http.client writes it: Host first, then the fields in their order."""
    lines = [f"{method} {target} HTTP/1.1"]
    names = {text_of(name).lower() for name in headers}
    if "host" not in names:
        lines.append(f"Host: {host_of(route)}")
    if "accept-encoding" not in names:
        lines.append("Accept-Encoding: identity")
    if chunked and "transfer-encoding" not in names:
        lines.append("Transfer-Encoding: chunked")
    lines += [f"{text_of(name)}: {text_of(value)}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def host_of(route: ConnectionRoute) -> str:
    """Return the Host field, with the port unless it is the scheme's default."""
    host = f"[{route.host}]" if ":" in route.host else route.host
    return host if route.port == PORTS[route.scheme] else f"{host}:{route.port}"


def text_of(value: Any) -> str:
    """Return a field's name or value as text; bytes are Latin-1."""
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def fields_of(head: bytes) -> list[tuple[str, str]]:
    """Return the names and values of a head without its Host field."""
    lines = head.decode("latin-1").split("\r\n")[1:-2]
    fields = [line.partition(": ") for line in lines]
    return [(name, value) for name, _, value in fields if name.lower() != "host"]


def whole_body(body: Any, *, chunked: bool) -> bytes:
    """Return the body in one piece, as it is sent from memory."""
    if body is None:
        return b""
    if isinstance(body, str):
        body = body.encode()
    if isinstance(body, (bytes, bytearray, memoryview)):
        pieces = [bytes(body)]
    elif hasattr(body, "read"):
        pieces = list(iter(lambda: encoded(body.read(CHUNK_BYTES)), b""))
    else:
        pieces = [encoded(piece) for piece in body]
    if not chunked:
        return b"".join(pieces)
    framed = [b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces if piece]
    return b"".join([*framed, b"0\r\n\r\n"])


def encoded(piece: str | bytes) -> bytes:
    """Return text as UTF-8."""
    return piece.encode() if isinstance(piece, str) else piece
