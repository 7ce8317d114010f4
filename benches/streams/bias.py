"""How far from the truth a tool's times to the first text are, while it replays a trace.

torr and AIPerf replay the same trace at its times. For each request, the time to the first text
that a tool reports is set beside that of the target's log: from the request that it had read to the
first text that it sent. A client sees both later, and one that is busy much later.
"""

from __future__ import annotations

import statistics
import tempfile
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from streams import aiperf, conversations, tools
from streams.joined import Stream, aiperf_records, joined, target_log, torr_log
from streams.process import run
from streams.shown import Lines, spread, table
from truth.firing import target
from truth.streams import rank

MEAN_MS, P99_MS = 0.5, 1.0
"""The bars of torr."""

# Far enough below `conversations.APART_MS` for clients that start late.
_APART_MS = 500
_TARGET = ("--tokens", "100000", "--ttft", "heavy:200ms,0.5", "--itl", "10ms")
_PATIENCE_S = 120

Replay = Callable[[str, Path, Path, int], tuple[list[Stream], float]]
"""Replays a trace at a URL, with a place for files and a limit of seconds."""


@dataclass
class Rounds:
    """What each round found of a tool."""

    mean_ms: list[float] = field(default_factory=list)
    p99_ms: list[float] = field(default_factory=list)
    core: list[float] = field(default_factory=list)
    streams: int = 0


def replay_by_torr(url: str, trace: Path, place: Path, seconds: int) -> tuple[list[Stream], float]:
    """Replay a trace by `torr run`."""
    log = place / "seen.csv"
    what = ("--chat", "openai", "--model", "m", "--trace", str(trace), "--workers", "1")
    how = ("-z", f"{seconds}s", "--log", str(log), "-q", "-d", str(place))
    _, cpu_s = run([str(tools.TORR), "run", *what, *how, url], seconds + _PATIENCE_S)
    return torr_log(log), cpu_s


def replay_by_aiperf(
    url: str, trace: Path, place: Path, seconds: int
) -> tuple[list[Stream], float]:
    """Replay a trace by AIPerf's fixed schedule."""
    what = ("--input-file", str(trace), "--custom-dataset-type", "mooncake_trace")
    when = ("--fixed-schedule", "--fixed-schedule-auto-offset")
    cpu_s = aiperf.profile(url, place, *what, *when, timeout_s=seconds + 2 * _PATIENCE_S)
    return aiperf_records(place / "out/profile_export.jsonl"), cpu_s


REPLAYS: dict[str, Replay] = {"torr": replay_by_torr, "AIPerf": replay_by_aiperf}


def replayed(options: Namespace) -> tuple[Lines, bool]:
    """Measure the bias of each tool in turn."""
    names = [name for name in REPLAYS if name not in tools.left_out()]
    found = {name: Rounds() for name in names}
    rows = conversations.conversations(options.requests, options.rate)
    for number in range(options.rounds):
        for name in names if number % 2 == 0 else reversed(names):
            _measure(REPLAYS[name], rows, found[name])
    title = (
        f"trace: {options.requests:,} requests of {options.rate:g}/s replayed (bar of torr: "
        f"{MEAN_MS} ms on average, {P99_MS} ms at p99)"
    )
    shown = [(name, f"{of.streams:,}", *_columns(of)) for name, of in found.items()]
    columns = ("tool", "streams", "mean bias, ms", "lowest … highest", "p99 bias, ms")
    more = ("lowest … highest", "client's core, %", "lowest … highest")
    torr = found["torr"]
    holds = abs(statistics.median(torr.mean_ms)) <= MEAN_MS
    holds = holds and statistics.median(torr.p99_ms) <= P99_MS
    return table(title, (*columns, *more), shown), holds


def _measure(replay: Replay, rows: list[conversations.Row], found: Rounds) -> None:
    seconds = rows[-1].timestamp // 1000 + _PATIENCE_S
    with tempfile.TemporaryDirectory(prefix="torr-trace-") as folder:
        place, truth = Path(folder), Path(folder, "truth.csv")
        conversations.write(place / "trace.jsonl", rows)
        words = ("openai", *_TARGET, "--log", str(truth))
        with target(*words, seconds=seconds + 3 * _PATIENCE_S) as (url, _):
            seen, cpu_s = replay(url, place / "trace.jsonl", place, seconds)
        log = target_log(truth)
    if len(log.streams) != len(rows):
        message = f"the target answered {len(log.streams):,} of {len(rows):,} requests"
        raise RuntimeError(message)
    pairs = joined(log.streams, seen, _APART_MS)
    if len(pairs) != len(rows):
        message = f"the tool has {len(seen):,} of {len(rows):,} requests, {len(pairs):,} joined"
        raise RuntimeError(message)
    bias = sorted(client.ttft_ms - target.ttft_ms for target, client in pairs)
    found.mean_ms.append(statistics.fmean(bias))
    found.p99_ms.append(rank(bias, 0.99))
    lasted_s = (max(one.last for one in log.streams) - min(one.began for one in log.streams)) / 1e9
    found.core.append(100 * cpu_s / lasted_s)
    found.streams = len(pairs)


def _columns(of: Rounds) -> tuple[str, ...]:
    return (*spread(of.mean_ms, "+.3f"), *spread(of.p99_ms, "+.3f"), *spread(of.core, ".1f"))
