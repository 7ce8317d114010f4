"""Streams whose every event is logged by who sent it, beside what torr saw of them."""

from __future__ import annotations

import csv
import math
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from truth.firing import Level, fired, health_of, target
from truth.row import Round, Value

BAR = "ttft: mean within 0.5 ms, p99 of the stamps within 1 ms; inter_chunk p99 within 1 ms"

_CHAT = ("--chat", "openai", "--model", "m", "--prompt", "hi")
_ALLOWED_MEAN_MS = 0.5
_ALLOWED_MS = 1.0


class Sent(NamedTuple):
    """One stream as its target logged it, in ns."""

    received: int
    texts: list[int]


class Seen(NamedTuple):
    """One stream as torr logged it, in ns."""

    sent: int
    first_text: int


def known(*words: str, connections: int) -> Callable[[int], Round]:
    """What a chat target logged against what torr measured."""

    def measure(seconds: int) -> Round:
        with tempfile.TemporaryDirectory(prefix="torr-truth-") as place:
            truth, log = Path(place) / "truth.csv", Path(place) / "log.csv"
            with target("openai", *words, "--log", str(truth)) as (url, _):
                load = ("-c", str(connections), "-z", f"{seconds}s", "--log", str(log))
                level = fired(url, *_CHAT, *load)
            sent, seen = streams_of(truth), seen_of(log)
        values = {**first_texts(sent, seen), **gaps(sent, level)}
        cpu = max(level["health"]["worker_cpu_rate"])
        aside = {"streams": len(seen), "texts/s": level["stream"]["events"]["text"] / seconds}
        return Round({**values, "client's CPU %": Value(cpu, 0, 50)}, aside | health_of(level))

    return measure


def streams_of(path: Path) -> list[Sent]:
    """Every stream of a target's log that has a text."""
    received: dict[str, int] = {}
    texts: defaultdict[str, list[int]] = defaultdict(list)
    with path.open(newline="") as lines:
        for row in csv.DictReader(lines):
            if row["event"] == "received":
                received[row["stream"]] = int(row["sent_ns"])
            elif row["event"] == "text":
                texts[row["stream"]].append(int(row["sent_ns"]))
    return [Sent(received[stream], times) for stream, times in texts.items()]


def seen_of(path: Path) -> list[Seen]:
    """Every stream of torr's log that had a text, also of the warm-up."""
    with path.open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["first_text_ns"]]
    return [Seen(int(row["sent_ns"]), int(row["first_text_ns"])) for row in rows]


def first_texts(sent: Sequence[Sent], seen: Sequence[Seen]) -> dict[str, Value]:
    """How far torr's first texts are from those of the log: on average, and stamp by stamp.

    The n-th first text that was sent is the n-th that came, but for some that were sent within
    microseconds of each other.
    """
    mean = statistics.fmean((one.first_text - one.sent) / 1e6 for one in seen)
    exact = statistics.fmean((one.texts[0] - one.received) / 1e6 for one in sent)
    left = sorted(one.texts[0] for one in sent)
    came = sorted(one.first_text for one in seen)
    late = sorted(abs(b - a) / 1e6 for a, b in zip(left, came, strict=False))
    return {
        "ttft mean": Value(mean, exact, _ALLOWED_MEAN_MS),
        "stamps late p99": Value(rank(late, 0.99), 0, _ALLOWED_MS),
    }


def gaps(sent: Sequence[Sent], level: Level) -> dict[str, Value]:
    """The distances of texts that torr shows, beside those of the log."""
    pairs = (zip(one.texts, one.texts[1:], strict=False) for one in sent)
    exact = sorted((b - a) / 1e6 for pair in pairs for a, b in pair)
    seen = level["stream"]["inter_chunk_ms"]
    return {
        f"inter_chunk {name}": Value(seen[name], rank(exact, p), _ALLOWED_MS)
        for name, p in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99))
        if seen.get(name) is not None
    }


def rank(ordered: Sequence[float], p: float) -> float:
    """The value of which that share is no larger, as the histogram ranks."""
    return ordered[math.ceil(round(p * len(ordered), 6)) - 1]
