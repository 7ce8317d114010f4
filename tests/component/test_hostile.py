"""Targets that send without end: each attempt ends in one class, and memory is bounded."""

from __future__ import annotations

import pytest

# What a hundred connections of such a target may add to the memory of a run, in bytes.
MOST_BYTES = 64 << 20
USERS = ("-c", "100", "--requests", "200", "--warmup", "0s", "--workers", "1")


def level_of(torr, url, *flags):
    """Return the level of a run, whose counts balance."""
    ended = torr("run", *USERS, *flags, url)
    level = ended.level
    counts = level["counts"]
    failed = sum(counts["errors"].values())
    assert counts["planned"] == counts["attempted"] == 200 == counts["ok"] + failed, ended.err
    assert sum(level["reasons"].values()) == failed
    return level


@pytest.mark.parametrize(
    ("fault", "flags", "reasons"),
    [
        ("gzip_bomb", ("--compressed", "--expect-json", "a=1"), {"check.too_large"}),
        pytest.param(
            *("endless_body", ("--expect-body", "end"), {"read.no_memory", "timeout.body"}),
            marks=pytest.mark.full,
        ),
        pytest.param(
            *("endless_line", ("--stream", "sse"), {"read.no_memory", "timeout.body"}),
            marks=pytest.mark.full,
        ),
        pytest.param(
            *("endless_interim", ("--capture", "x=header:x"), {"protocol.too_many_interim"}),
            marks=pytest.mark.full,
        ),
        pytest.param(
            *("slow_head", ("--capture", "x=header:x"), {"timeout.head"}), marks=pytest.mark.full
        ),
    ],
)
def test_a_hostile_target_takes_a_bounded_amount_of_memory(torr, target, fault, flags, reasons):
    hello, faulty = target("hello"), target("faulty", "--fault", fault, "--share", "100%")
    base = level_of(torr, hello.url, "--timeout", "30s")
    hostile = level_of(torr, faulty.url, "--timeout", "10s", *flags)
    assert set(hostile["reasons"]) <= reasons
    assert hostile["counts"]["ok"] == 0
    added = hostile["generator"]["max_rss_bytes"] - base["generator"]["max_rss_bytes"]
    assert added <= MOST_BYTES, f"{added / (1 << 20):.0f} MiB"
