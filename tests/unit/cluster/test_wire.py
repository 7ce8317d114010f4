"""Lines between torr and its agents: whole, in pieces, and lines that are something else."""

from __future__ import annotations

import socket
import threading

import pytest

from torr.cluster.wire import MOST_LINE_BYTES, read_first_line, read_line, send_line


@pytest.fixture
def pair():
    one, other = socket.socketpair()
    with one, other:
        yield one, other


def test_a_message_arrives_and_what_follows_stays(pair):
    one, other = pair
    send_line(one, {"token": "é", "n": 1})
    one.sendall(b"frames")
    assert read_first_line(other) == {"token": "é", "n": 1}
    assert other.recv(100) == b"frames"


def test_a_message_may_come_in_any_two_pieces():
    line = b'{"load": 7, "text": "a"}\n'
    for split in range(len(line)):
        one, other = socket.socketpair()
        with one, other:
            pieces = threading.Thread(
                target=lambda one=one, at=split: [one.sendall(line[:at]), one.sendall(line[at:])]
            )
            pieces.start()
            assert read_first_line(other) == {"load": 7, "text": "a"}
            pieces.join()


@pytest.mark.parametrize("sent", [b"", b"{", b"[1]\n", b"GET / HTTP/1.1\r\n", b"\xff\n"])
def test_a_line_that_is_no_message_is_none(pair, sent):
    one, other = pair
    one.sendall(sent)
    one.shutdown(socket.SHUT_WR)
    assert read_first_line(other) is None


@pytest.mark.parametrize("sent", [b"", b"{", b"[1]\n", b"\xff\n"])
def test_the_same_holds_for_later_lines(pair, sent):
    one, other = pair
    send_line(one, {"n": 1})
    one.sendall(sent)
    one.shutdown(socket.SHUT_WR)
    with other.makefile("rb") as reader:
        assert read_line(reader) == {"n": 1}
        assert read_line(reader) is None


def test_a_line_without_an_end_is_not_read_for_ever(pair):
    one, other = pair
    text = b"x" * (MOST_LINE_BYTES + 1)
    threading.Thread(target=one.sendall, args=(text,), daemon=True).start()
    assert read_first_line(other) is None


def test_a_line_that_json_cannot_nest_is_no_message(pair):
    one, other = pair
    text = b"[" * (MOST_LINE_BYTES - 1) + b"\n"
    threading.Thread(target=one.sendall, args=(text,), daemon=True).start()
    assert read_first_line(other) is None
