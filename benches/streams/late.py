"""Thousands of slow streams open at once on one core: how late torr notices their texts.

torr stamps the first and the last text of each stream when the read with it returns; the target
logs when it sent them. Both use one clock. The target's own lateness stands beside: how long after
its planned time it sent each text. A target that was late sends what has collected at once, and
torr reads it one by one; so the stamps at which the target was on time are shown by themselves.
How often the machine itself is slow is measured before, without a load.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import tempfile
from argparse import Namespace
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common.host import slow_share
from streams import conversations, tools
from streams.joined import Pair, Stream, TargetLog, joined, target_log, torr_log
from streams.process import run
from streams.shown import Lines, spread, table
from truth.firing import target
from truth.streams import rank

P99_MS = 1.0
RATE_PER_S = 20

_WARMUP_S, _WINDOW_S = 10, 20
_LENGTHS = (100, 399)
"""Texts of a stream: so many lengths that few streams have the same one."""
_SPARE = 50
"""A user of so many is beyond those that are open: users are between two streams for a moment."""
# Two streams that were exchanged would seem late by hundreds of ms.
_APART_MS = 20.0
_LOOK_NS = 100_000_000
# The target is on time at a text if no text of the last 100 ms was later than this.
_ON_TIME_MS = 1.0
_LATELY_NS = 100_000_000
_PATIENCE_S = 120


@dataclass(frozen=True)
class Held:
    """What a round found within its window."""

    open_least: int
    texts_per_s: float
    late_ms: list[float]
    on_time_late_ms: list[float]
    """Those of `late_ms` at which the target was on time."""
    target_late_ms: list[float]
    failed: int
    stamps: int
    client_core: float
    target_core: float


def many_open(options: Namespace) -> tuple[Lines, bool]:
    """Measure the lateness of the stamps."""
    slow = [slow_share() for _ in range(options.rounds)]
    rounds = [_measure(options.streams) for _ in range(options.rounds)]
    late = [rank(held.late_ms, 0.99) for held in rounds]
    own = [rank(held.target_late_ms, 0.99) for held in rounds]
    on_time = [rank(held.on_time_late_ms or [math.inf], 0.99) for held in rounds]
    shares = [len(held.on_time_late_ms) / max(1, held.stamps) for held in rounds]
    rows = [
        ("streams open at once, at least", *spread([r.open_least for r in rounds], ",.0f")),
        ("failed", *spread([r.failed for r in rounds], ",.0f")),
        ("texts/s that the target sent", *spread([r.texts_per_s for r in rounds], ",.0f")),
        ("stamps of torr, joined one by one", *spread([r.stamps for r in rounds], ",.0f")),
        ("stamps of torr late, p50, ms", *spread([rank(r.late_ms, 0.5) for r in rounds], ".3f")),
        ("stamps of torr late, p99, ms", *spread(late, ".3f")),
        ("stamps at which the target was on time", *spread(shares, ".0%")),
        ("of these late, p99, ms", *spread(on_time, ".3f")),
        ("target itself late, p99, ms", *spread(own, ".3f")),
        ("machine at less than half its speed, idle", *spread(slow, ".1%")),
        ("torr's core, %", *spread([r.client_core for r in rounds], ".0f")),
        ("target's core, %", *spread([r.target_core for r in rounds], ".0f")),
    ]
    title = f"late: {options.streams:,} streams of {RATE_PER_S} texts/s (bar: p99 ≤ {P99_MS:g} ms)"
    holds = statistics.median(late) <= P99_MS and not any(held.failed for held in rounds)
    holds = holds and min(held.open_least for held in rounds) >= options.streams
    return table(title, ("", "median", "lowest … highest"), rows), holds


def _measure(streams: int) -> Held:
    users = streams + streams // _SPARE
    seconds = _WARMUP_S + _WINDOW_S
    rows = conversations.lengths_in_turn(users * seconds // 4, *_LENGTHS)
    with tempfile.TemporaryDirectory(prefix="torr-late-") as folder:
        place = Path(folder)
        conversations.write(place / "trace.jsonl", rows)
        # Times to the first text that differ, so that the texts of streams do not come together.
        slow = ("--ttft", "heavy:300ms,0.7", "--itl", f"{1000 // RATE_PER_S}ms")
        words = ("openai", "--tokens", "100000", *slow, "--log", str(place / "truth.csv"))
        with target(*words, seconds=seconds + 2 * _PATIENCE_S) as (url, process):
            level = _fired(url, place, users)
            target_s = _cpu_s(process.pid)
        log, seen = target_log(place / "truth.csv"), torr_log(place / "seen.csv")
    return _held(log, joined(log.streams, seen, _APART_MS), level, target_s)


def _fired(url: str, place: Path, users: int) -> dict[str, Any]:
    what = ("--chat", "openai", "--model", "m", "--trace", str(place / "trace.jsonl"))
    how = ("-c", str(users), "--workers", "1", "--spin", "-z", f"{_WARMUP_S + _WINDOW_S}s")
    # Streams last 20 s, and more where the target is late.
    limits = ("--timeout", f"{_PATIENCE_S // 2}s", "--drain", f"{_PATIENCE_S // 2}s")
    kept = ("--log", str(place / "seen.csv"), "-q", "-d", str(place), "-o", "json")
    output, _ = run([str(tools.TORR), "run", *what, *how, *limits, *kept, url], 2 * _PATIENCE_S)
    level: dict[str, Any] = json.loads(output)["levels"][0]
    return level


def _held(log: TargetLog, pairs: Sequence[Pair], level: dict[str, Any], target_s: float) -> Held:
    begun = min(stream.began for stream in log.streams)
    lasted_s = (max(stream.last for stream in log.streams) - begun) / 1e9
    begin, end = begun + _WARMUP_S * 10**9, begun + (_WARMUP_S + _WINDOW_S) * 10**9
    stamps = [
        (sent, abs(seen - sent))
        for target_side, client_side in pairs
        for sent, seen in (
            (target_side.first, client_side.first),
            (target_side.last, client_side.last),
        )
    ]
    stamps = [(sent, late) for sent, late in stamps if begin <= sent < end]
    sent_late = list(zip(log.sent_ns, log.late_ns, strict=True))
    own = [late / 1e6 for sent, late in sent_late if begin <= sent < end]
    delays = sorted(sent for sent, late in sent_late if late > _ON_TIME_MS * 1e6)
    return Held(
        open_least=least_open(log.streams, begin, end),
        texts_per_s=len(own) / _WINDOW_S,
        late_ms=sorted(late / 1e6 for _, late in stamps),
        on_time_late_ms=sorted(late / 1e6 for sent, late in stamps if is_on_time(delays, sent)),
        target_late_ms=sorted(own),
        stamps=len(stamps),
        failed=sum(level["counts"]["errors"].values()) + log.unfinished,
        client_core=max(level["health"]["worker_cpu_rate"]),
        target_core=100 * target_s / lasted_s,
    )


def is_on_time(delays: Sequence[int], now: int) -> bool:
    """Return whether the target has sent no text too late lately, at these times in order."""
    return bisect_left(delays, now - _LATELY_NS) == bisect_right(delays, now)


def least_open(streams: Sequence[Stream], begin: int, end: int) -> int:
    """Return how many streams are open at least, looked at ten times a second."""
    began = sorted(stream.began for stream in streams)
    ended = sorted(stream.last for stream in streams)
    looks = range(begin, end, _LOOK_NS)
    return min(bisect_right(began, now) - bisect_left(ended, now) for now in looks)


def _cpu_s(pid: int) -> float:
    """Return the processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
