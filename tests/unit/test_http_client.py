"""The client of what is looked at: whole responses, or an error in bounded time."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from itertools import count
from types import SimpleNamespace

import pytest

from torr import http_client
from torr.http_client import Connection
from torr.model.url import Url

OK = b"HTTP/1.1 200 OK\r\n"
LONG_S = 60.0


@contextmanager
def connected(*answers, ends=False, within_s=LONG_S):
    """A connection, and the server's end of it, which has sent the responses."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = Url("127.0.0.1", server.getsockname()[1], "/")
        with Connection(place, within_s, LONG_S) as connection, server.accept()[0] as peer:
            peer.sendall(b"".join(answers))
            if ends:
                peer.shutdown(socket.SHUT_WR)
            yield connection, peer


@pytest.mark.parametrize(
    ("answer", "ends"),
    [
        (b"Content-Length: 5\r\n\r\nhello", False),
        (b"transfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", False),
        (b"x-a: b\r\n\r\nhello", True),
    ],
    ids=["length", "chunks", "until close"],
)
def test_a_body_is_read_to_its_end_however_it_is_framed(answer, ends):
    with connected(OK, answer, ends=ends) as (connection, _):
        found = connection.exchange("/")
    assert (found.status, found.reason, found.version) == (200, "OK", "HTTP/1.1")
    assert (found.body, found.will_close) == (b"hello", ends)


def test_names_of_headers_are_in_lower_case_and_the_first_value_counts():
    answer = b"X-A: 1\r\nx-a: 2\r\ncontent-length: 0\r\n\r\n"
    with connected(OK, answer) as (connection, _):
        found = connection.exchange("/")
    assert found.headers == (("x-a", "1"), ("x-a", "2"), ("content-length", "0"))
    assert (found.header("x-a"), found.header("x-b")) == ("1", None)


@pytest.mark.parametrize(
    ("headers", "body", "sent"),
    [
        ((), None, ["Host: 127.0.0.1:{port}"]),
        ((("hOST", "a"), ("x", "y")), None, ["hOST: a", "x: y"]),
        ((), b"ab", ["Host: 127.0.0.1:{port}", "content-length: 2"]),
        ((("Content-Length", "2"),), b"ab", ["Host: 127.0.0.1:{port}", "Content-Length: 2"]),
    ],
)
def test_host_and_length_are_sent_unless_they_are_given(headers, body, sent):
    with connected(OK, b"content-length: 0\r\n\r\n") as (connection, peer):
        connection.exchange("/a?b=c", headers, method="PUT", body=body)
        head = peer.recv(1 << 16).partition(b"\r\n\r\n")[0]
        port = peer.getsockname()[1]
    lines = [line.format(port=port) for line in sent]
    assert head.decode().split("\r\n") == ["PUT /a?b=c HTTP/1.1", *lines]


def test_a_kept_connection_serves_a_second_request():
    answer = OK + b"content-length: 1\r\n\r\n"
    with connected(answer, b"a") as (connection, peer):
        assert connection.exchange("/").body == b"a"
        peer.sendall(answer + b"b")
        assert connection.exchange("/").body == b"b"


def test_a_connection_that_was_closed_is_not_opened_again():
    with connected(OK, b"connection: close\r\n\r\n", ends=True) as (connection, _):
        assert connection.exchange("/").will_close
        with pytest.raises(OSError, match="NotConnected"):
            connection.exchange("/")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (OK + b"content-length: 9\r\n\r\nhello", "4 more expected"),
        (OK + b"transfer-encoding: chunked\r\n\r\n9\r\nhello", "IncompleteRead"),
        (b"hello\r\n\r\n", "hello"),
        (b"", "closed connection without response"),
        (OK + b"\r\nhello there", "its response is larger than 0 MiB"),
    ],
)
def test_what_is_no_whole_answer_of_bounded_size_is_an_error(answer, why):
    with (
        connected(answer, ends=True) as (connection, _),
        pytest.raises(OSError, match=why),
    ):
        connection.exchange("/", most_bytes=10)


def test_an_answer_that_does_not_come_is_not_waited_for():
    with (
        connected(within_s=0.05) as (connection, _),
        pytest.raises(TimeoutError, match=r"^no whole response within 0\.05 s$"),
    ):
        connection.exchange("/")


def test_an_answer_that_goes_on_is_left_when_its_time_is_over(monkeypatch):
    clock = count()  # each look at it is a second later
    monkeypatch.setattr(http_client, "time", SimpleNamespace(monotonic=clock.__next__))
    # The request, the head and then as many pieces as there are.
    with (
        connected(OK, b"\r\n", b"x" * 10_000, within_s=3.0) as (connection, _),
        pytest.raises(TimeoutError, match="no whole response within 3 s"),
    ):
        connection.exchange("/")


def test_connecting_has_a_time_of_its_own_within_that_of_the_answer(monkeypatch):
    allowed, connect = [], socket.create_connection

    def connected_to(place, timeout_s):
        allowed.append(timeout_s)
        return connect(place, timeout_s)

    monkeypatch.setattr(socket, "create_connection", connected_to)
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = Url("127.0.0.1", server.getsockname()[1], "/")
        with Connection(place, LONG_S, 20.0), Connection(place, LONG_S):
            pass
    assert allowed == [20.0, LONG_S]
