"""Frames of messages: a byte that says whether it is compressed, the length, the message."""

from __future__ import annotations

import gzip
import struct
import zlib
from typing import TYPE_CHECKING

from torr.model.outside_file import MOST_BYTES, unpacked

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEAD = struct.Struct(">BI")
_PLAIN, _COMPRESSED = 0, 1


class FrameError(ValueError):
    """An error for bytes that are not frames of gRPC; the message says what is wrong."""


def framed(messages: Sequence[bytes], *, is_compressed: bool = False) -> bytes:
    """Return the frames of messages, each compressed by gzip if that is asked for."""
    if is_compressed:
        packed = [gzip.compress(message, mtime=0) for message in messages]
        return b"".join(_HEAD.pack(_COMPRESSED, len(each)) + each for each in packed)
    return b"".join(_HEAD.pack(_PLAIN, len(each)) + each for each in messages)


def unframed(body: bytes) -> list[bytes]:
    """Return the messages of frames, unpacked; raise FrameError."""
    messages = []
    start = 0
    while start < len(body):
        if len(body) - start < _HEAD.size:
            raise FrameError("the last frame has no whole head")
        flag, length = _HEAD.unpack_from(body, start)
        start += _HEAD.size
        content = body[start : start + length]
        if len(content) < length:
            raise FrameError(f"the last message has {len(content)} of {length} bytes")
        if flag not in (_PLAIN, _COMPRESSED):
            raise FrameError(f"a frame begins with {flag}, neither 0 nor 1")
        messages.append(content if flag == _PLAIN else _unpacked(content))
        start += length
    return messages


def _unpacked(content: bytes) -> bytes:
    try:
        return unpacked(content, MOST_BYTES, is_gzip=True)
    except zlib.error as error:
        raise FrameError(f"a compressed message cannot be unpacked: {error}") from error
