"""All rows, in the order in which they are measured."""

from __future__ import annotations

import sys

from versus import http2, lag, memory, startup, steady, templates
from versus.row import Row
from versus.speed import plain, secure
from versus.tools import ALL

_OVER_TLS = [name for name in ALL if name != "bare"]


def _small(connections: int, over_wrk: float) -> Row:
    plural = "" if connections == 1 else "s"
    about = f"small response, {connections:,} connection{plural}"
    return Row(f"small-{connections}", about, plain("/small", connections, over_wrk, floor=True))


def _http2(connections: int, streams: int) -> Row:
    about = f"HTTP/2 of nghttpd, {connections} × {streams} streams"
    return Row(f"h2-{connections}x{streams}", about, http2.of_nghttpd(connections, streams))


def _grpc(connections: int, streams: int) -> Row:
    about = f"unary calls of gRPC, {connections} × {streams} streams"
    return Row(f"grpc-{connections}x{streams}", about, http2.of_grpc(connections, streams))


def _messages(connections: int, streams: int) -> Row:
    about = f"messages over WebSocket, {connections} × {streams} at once"
    return Row(f"ws-{connections}x{streams}", about, http2.of_messages(connections, streams))


def _http2_of_nginx(
    name: str, about: str, path: str, limits: dict[int, float], coalesce: str = ""
) -> list[Row]:
    tls = "TLS" in about
    collected = ", requests of 400 µs together" if coalesce else ""
    return [
        Row(
            f"{name}-16x{streams}",
            f"{about}, 16 × {streams} streams{collected}",
            http2.of_nginx(path, streams, limit, tls=tls, coalesce=coalesce),
        )
        for streams, limit in limits.items()
    ]


def _http2_coalesced(name: str, about: str, limits: dict[int, float]) -> list[Row]:
    """Return the rows of nginx in which a connection has several requests to send together."""
    several = {streams: limit for streams, limit in limits.items() if streams > 1}
    return _http2_of_nginx(name, about, "/small", several, http2.COALESCE)


ROWS = [
    _small(1, 0.80),
    _small(64, 0.95),
    _small(256, 0.80),
    _small(1000, 0.72),
    Row("16k-64", "16 KB, 64 connections", plain("/16k", 64, 0.80)),
    Row("64k-64", "64 KB, 64 connections", plain("/64k", 64, 0.65)),
    Row(
        "tls-small-64", "small response over TLS, 64 connections", secure("/small", 64, *_OVER_TLS)
    ),
    Row("tls-16k-64", "16 KB over TLS, 64 connections", secure("/16k", 64, "torr", "wrk")),
    Row("templates-64", "3 variables and a check, 64 connections", templates.measure),
    Row("lag-1000", "lateness at the target, 1,000/s", lag.at_rate(1_000)),
    Row("lag-10000", "lateness at the target, 10,000/s", lag.at_rate(10_000)),
    Row("steady", "10,000/s over 64 connections for a minute", steady.measure),
    Row("memory", "memory at 10,000 connections", memory.connections),
    Row("memory-users", "memory of 100,000 thinking users", memory.thinking),
    Row("startup", "start", startup.measure),
    *(_http2(connections, streams) for connections in (1, 16, 64) for streams in (1, 10, 100)),
    *_http2_of_nginx("h2-nginx", "HTTP/2 of nginx", "/small", http2.OVER_NGINX),
    *_http2_coalesced("h2-coalesced", "HTTP/2 of nginx", http2.OVER_NGINX),
    *_http2_of_nginx("h2-tls", "HTTP/2 of nginx over TLS", "/small", http2.OVER_TLS),
    *_http2_coalesced("h2-tls-coalesced", "HTTP/2 of nginx over TLS", http2.OVER_TLS),
    *(_grpc(1, 1), _grpc(16, 1), _grpc(16, 10), _grpc(16, 100)),
    *(_messages(64, 1), _messages(64, 16)),
    *_http2_of_nginx("h2-16k", "HTTP/2 of nginx, 16 KB", "/16k", http2.OVER_16K),
]


def chosen(asked: list[str]) -> list[Row]:
    """The rows of these names, or whose names start so; all of them for none."""
    exact = {row.name for row in ROWS}.intersection(asked)
    begun = tuple(set(asked) - exact)
    found = [
        row
        for row in ROWS
        if not asked or row.name in exact or (begun and row.name.startswith(begun))
    ]
    if not found:
        sys.exit(f"no such row; there are: {', '.join(row.name for row in ROWS)}")
    return found
