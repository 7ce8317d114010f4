"""Frames, messages as JSON, and the status of a call."""

from __future__ import annotations

import gzip
import json

import pytest

from torr.grpc.decoding import MessageReader, shown_messages
from torr.grpc.framing import FrameError, framed, unframed
from torr.grpc.status import NAMES, GrpcStatus, code_of, name_of, status_of
from torr.results.exchange import Exchange, ResponseHead


def test_a_frame_has_a_flag_and_a_length():
    assert framed([b"ab", b""]) == b"\x00\x00\x00\x00\x02ab\x00\x00\x00\x00\x00"
    assert unframed(framed([b"ab", b""])) == [b"ab", b""]
    assert unframed(b"") == []


def test_a_compressed_message_has_the_flag_1():
    frame = framed([b"a" * 100], is_compressed=True)
    assert (frame[0], gzip.decompress(frame[5:])) == (1, b"a" * 100)
    assert frame == framed([b"a" * 100], is_compressed=True)
    assert unframed(frame) == [b"a" * 100]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"\x00\x00", "the last frame has no whole head"),
        (b"\x00\x00\x00\x00\x02a", "the last message has 1 of 2 bytes"),
        (b"\x02\x00\x00\x00\x00", "a frame begins with 2, neither 0 nor 1"),
        (b"\x01\x00\x00\x00\x01x", "a compressed message cannot be unpacked"),
    ],
)
def test_what_are_not_frames_is_said(body, says):
    with pytest.raises(FrameError, match=says):
        unframed(body)


def test_messages_are_shown_as_json(method, written):
    add = method("shop.Cart/Add")
    message = written(add.request, {"name": "Ünal", "byId": {"1": {"id": 2}}})
    (text,) = shown_messages(framed([message]), MessageReader(add.request))
    assert json.loads(text) == {"name": "Ünal", "byId": {"1": {"id": "2"}}}
    assert "Ünal" in text
    with pytest.raises(FrameError, match=r"a message is not of type shop\.Item"):
        shown_messages(framed([b"\xff"]), MessageReader(add.request))


def test_a_status_has_a_name_and_a_number():
    assert (name_of(0), name_of(5), name_of(16), name_of(99)) == (
        *("OK", "NOT_FOUND", "UNAUTHENTICATED", "UNKNOWN"),
    )
    assert [code_of(name) for name in NAMES] == list(range(17))
    assert code_of("FINE") is None
    assert GrpcStatus(5).text == "NOT_FOUND (5)"
    assert GrpcStatus(5, "no\x1bcart").text == r"NOT_FOUND (5): no\x1bcart"


def exchange(trailers=(), head=(), body=b""):
    return Exchange(
        error_class="ok",
        head=ResponseHead(version="2", status=200, fields=list(head)),
        trailers=list(trailers),
        body=body,
    )


def test_the_status_is_in_the_trailers_or_in_a_head_alone():
    fields = [("grpc-status", "5"), ("Grpc-Message", "na%C3%AFve %25")]
    assert status_of(exchange(fields)) == GrpcStatus(5, "naïve %")
    assert status_of(exchange(head=fields)) == GrpcStatus(5, "naïve %")
    assert status_of(exchange(head=fields, body=framed([b""]))) is None
    assert status_of(exchange()) is None
    assert status_of(exchange([("grpc-status", "x")])) is None
    assert status_of(Exchange(error_class="connect")) is None
