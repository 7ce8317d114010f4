"""Images for chats: PNG files of random pixels, which no cache of a server knows.

They depend on the seed alone, so that runs can be repeated. Random pixels cannot be compressed: an
image has three bytes a pixel.
"""

from __future__ import annotations

import base64
import random
import re
import struct
import zlib
from dataclasses import dataclass

from torr.errors import require
from torr.messages.say import say

MOST_DIFFERENT = 64
MOST_BYTES = 256 * 1024 * 1024
"""The largest size of all images of all rows, which are in memory several times."""
_LARGEST_SIDE = 8192
_SIZE = re.compile(r"([1-9]\d{0,4})x([1-9]\d{0,4})")


@dataclass(frozen=True, slots=True)
class ImageSize:
    """The size of an image in pixels."""

    width: int
    height: int

    @classmethod
    def parse(cls, text: str) -> ImageSize:
        """Read a text such as `512x512`; raise UsageError."""
        match = _SIZE.fullmatch(text.strip())
        size = cls(int(match[1]), int(match[2])) if match else cls(0, 0)
        require(
            0 < size.width <= _LARGEST_SIDE and 0 < size.height <= _LARGEST_SIDE,
            say("{text!r} is not a size of an image", text=text),
            say("write width and height in pixels, at most {most}: 512x512", most=_LARGEST_SIDE),
        )
        return size


def image_columns(sizes: tuple[ImageSize, ...]) -> tuple[str, ...]:
    """Return the names of the columns of a row's images."""
    return tuple(f"image_{number}" for number in range(1, len(sizes) + 1))


def images_of(sizes: tuple[ImageSize, ...], rows: int, seed: int) -> list[tuple[str, ...]]:
    """Return the images of each row in base64, which repeat after `MOST_DIFFERENT` rows."""
    dice = random.Random(seed)  # noqa: S311 - no secret
    per_row = sum(4 * size.width * size.height for size in sizes)
    require(
        per_row * rows <= MOST_BYTES,
        say(
            "--image: the images of {rows:,} prompts have {size:,} MB",
            rows=rows,
            size=per_row * rows // 1_000_000,
        ),
        say("use fewer prompts, or smaller images"),
    )
    different = [
        tuple(base64.b64encode(_png(size, dice)).decode() for size in sizes)
        for _ in range(min(rows, MOST_DIFFERENT))
    ]
    return [different[row % len(different)] for row in range(rows)]


def _png(size: ImageSize, dice: random.Random) -> bytes:
    """Return a PNG file of random pixels, eight bits for each of red, green and blue."""
    lines = (b"\0" + dice.randbytes(3 * size.width) for _ in range(size.height))
    header = struct.pack(">IIBBBBB", size.width, size.height, 8, 2, 0, 0, 0)
    # Level 1: no level compresses random bytes.
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(b"".join(lines), 1)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
