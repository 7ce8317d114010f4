"""Profiles as Go writes them, put together by hand here, and cut at every place."""

from __future__ import annotations

import gzip
from contextlib import suppress

import pytest

from torr.errors import UsageError
from torr.profile import pprof

STRINGS = ["", "samples", "count", "cpu", "nanoseconds", "main.main", "net/http.serve", "log.Print"]


def varint(value):
    found = b""
    while value > 127:
        found += bytes([value & 127 | 128])
        value >>= 7
    return found + bytes([value])


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


def test_stacks_are_from_the_root_with_inlined_calls_in_their_place():
    found = pprof.read(profile(*BOTH))
    assert found.unit == "ns"
    assert found.weights == {
        ("main.main", "net/http.serve", "log.Print"): 30_000_000,
        ("main.main",): 10_000_000,
    }


def test_a_kind_of_sample_can_be_named():
    found = pprof.read(gzip.compress(profile(*BOTH)), "samples")
    assert (found.unit, found.total) == ("samples", 4)
    with pytest.raises(UsageError, match="the profile has no 'heap'"):
        pprof.read(profile(*BOTH), "heap")


def test_a_profile_in_which_nothing_ran_is_empty():
    assert pprof.read(profile()).weights == {}


def test_a_location_without_a_name_is_unknown():
    nameless = profile(message(2, packed(1, 9), packed(2, 1, 5))) + message(4, number(1, 9))
    assert pprof.read(nameless).weights == {("(unknown)",): 5}


@pytest.mark.parametrize("end", range(1, len(profile(*BOTH))))
def test_a_profile_that_is_cut_is_refused_or_smaller(end):
    found = None
    with suppress(UsageError):
        found = pprof.read(profile(*BOTH)[:end])
    assert found is None or found.total <= 40_000_000


@pytest.mark.parametrize("data", [b"", b"<html>404</html>", b"\x1f\x8b", b"\xff" * 20])
def test_what_is_no_profile_is_refused(data):
    with pytest.raises(UsageError, match="no profile of pprof"):
        pprof.read(data)
