"""Profiles as Go writes them, put together by hand here, and cut at every place."""

from __future__ import annotations

import gzip
from contextlib import suppress

import pytest

from pprof_bytes import BOTH, location, message, number, packed, profile
from torr.errors import UsageError
from torr.profile import pprof


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


def test_a_function_without_a_name_is_unknown():
    sample = message(2, packed(1, 9), packed(2, 1, 5))
    nameless = profile(sample) + location(9, 9) + message(5, number(1, 9))
    assert pprof.read(nameless).weights == {("(unknown)",): 5}


def test_a_profile_that_is_cut_anywhere_is_refused_or_smaller():
    whole = profile(*BOTH)
    totals = []
    for end in range(1, len(whole)):
        with suppress(UsageError):
            totals.append(pprof.read(whole[:end]).total)
    assert len(totals) < len(whole) - 1, "no cut was refused"
    assert max(totals, default=0) <= 40_000_000


@pytest.mark.parametrize("data", [b"", b"<html>404</html>", b"\x1f\x8b", b"\xff" * 20])
def test_what_is_no_profile_is_refused(data):
    with pytest.raises(UsageError, match="not a profile of pprof"):
        pprof.read(data)


def test_a_small_answer_that_unpacks_to_a_large_one_is_refused():
    bomb = gzip.compress(bytes(pprof.MOST_BYTES + 1))
    assert len(bomb) < 100_000
    with pytest.raises(UsageError, match="the profile has more than 32 MiB"):
        pprof.read(bomb)


def test_a_large_profile_is_refused():
    with pytest.raises(UsageError, match="the profile has more than 32 MiB"):
        pprof.read(bytes(pprof.MOST_BYTES + 1))


@pytest.mark.parametrize(
    "data",
    [
        profile(message(2, packed(1, *[1] * 300), packed(2, 1, 5))),
        profile(*[message(2, packed(1, 1), packed(2, 1, 5))] * 100),
        profile() + location(9, *[1] * 100),
        profile() + message(6) * 300,
    ],
)
def test_a_profile_of_too_many_values_is_refused(data, monkeypatch):
    monkeypatch.setattr(pprof, "_MOST_VALUES", 300)
    with pytest.raises(UsageError, match="the profile has more than 300 values"):
        pprof.read(data)
