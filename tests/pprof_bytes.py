"""Encodes a profile in the pprof format of Go."""

from __future__ import annotations

STRINGS = ["", "samples", "count", "cpu", "nanoseconds", "main.main", "net/http.serve", "log.Print"]


def varint(value):
    encoded = b""
    while value > 127:
        encoded += bytes([value & 127 | 128])
        value >>= 7
    return encoded + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, *parts):
    body = b"".join(parts)
    return varint(field << 3 | 2) + varint(len(body)) + body


def packed(field, *values):
    return message(field, *map(varint, values))


def location(place, *functions):
    lines = [message(4, number(1, function), number(2, 10)) for function in functions]
    return message(4, number(1, place), number(3, 0x400000), *lines)


def profile(*samples):
    return b"".join(
        [
            message(1, number(1, 1), number(2, 2)),
            message(1, number(1, 3), number(2, 4)),
            *samples,
            location(1, 1),
            # log.Print is inlined into serve.
            location(2, 3, 2),
            *(message(5, number(1, at), number(2, at + 4)) for at in (1, 2, 3)),
            *(message(6, text.encode()) for text in STRINGS),
            varint(9 << 3 | 1) + bytes(8),
        ]
    )


BOTH = (
    message(2, packed(1, 2, 1), packed(2, 3, 30_000_000)),
    message(2, number(1, 1), number(2, 1), number(2, 10_000_000)),
)
