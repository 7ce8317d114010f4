"""Strangers hold few connections, and none for long."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress

import pytest
from starlette.responses import PlainTextResponse, StreamingResponse

from installed import wait_until
from torr.webserver import connection
from torr.webserver.server import ApplicationServer, ServerSocket

PATIENCE_S = 20


async def slowly():
    yield "one "
    await asyncio.sleep(2.5)
    yield "two"


async def answers(scope, receive, send):
    made = StreamingResponse(slowly()) if scope["path"] == "/slow" else PlainTextResponse("here")
    await made(scope, receive, send)


@pytest.fixture
def server_socket():
    server_socket = ServerSocket("127.0.0.1", 0)
    server = ApplicationServer(answers, server_socket).start()
    yield server_socket
    server.stop()


@pytest.fixture
def dial(server_socket):
    made = []

    def dialled(text=b""):
        made.append(socket.create_connection(("127.0.0.1", server_socket.port), PATIENCE_S))
        with suppress(ConnectionError):
            made[-1].sendall(text)
        return made[-1]

    yield dialled
    for one in made:
        one.close()


def rest_of(one):
    """All that comes until the connection is closed."""
    read = b""
    with suppress(ConnectionResetError):
        while piece := one.recv(4096):
            read += piece
    return read


def asking(path, *more):
    return b"\r\n".join([f"GET {path} HTTP/1.1".encode(), b"Host: x", *more, b"", b""])


def test_one_too_many_is_let_go_until_there_is_room(dial, monkeypatch):
    monkeypatch.setattr(connection, "MAX_CONNECTIONS", 3)
    monkeypatch.setattr(connection, "HEAD_S", 600)  # silence is no reason to close one
    silent = [dial() for _ in range(3)]
    assert rest_of(dial()) == b""
    silent.pop().close()
    closing = asking("/", b"Connection: close")
    # When the server has heard of that is its own affair.
    assert wait_until(lambda: rest_of(dial(closing))).endswith(b"here")


@pytest.mark.parametrize(
    "text", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\nX-More: "], ids=["no", "half", "slow"]
)
def test_whoever_asks_for_nothing_is_let_go(dial, monkeypatch, text):
    monkeypatch.setattr(connection, "HEAD_S", 0.05)
    assert rest_of(dial(text)) == b""


def test_half_a_second_request_is_not_waited_for(dial, monkeypatch):
    monkeypatch.setattr(connection, "HEAD_S", 1)
    assert rest_of(dial(asking("/") + b"GET / HT")).endswith(b"here")


def test_an_answer_may_take_longer_than_a_head(dial, monkeypatch):
    # The head of this request has as long, even on a busy machine.
    monkeypatch.setattr(connection, "HEAD_S", 2)
    text = rest_of(dial(asking("/slow", b"Connection: close")))
    assert b"one " in text
    assert b"two" in text
