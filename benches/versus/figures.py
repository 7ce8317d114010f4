"""The figures: what is measured, how, and the bar that it must meet."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common.firstbyte import seconds_to_first_byte

from versus.tools import SCRATCH, TOOLS, TORR, Shot, spend

if TYPE_CHECKING:
    from common.nginx import Nginx

BETWEEN_S = 0.5


@dataclass(frozen=True)
class Figure:
    """One row: a measure of `torr`, and the bar for it."""

    name: str
    bar: float
    unit: str
    measure: Callable[[Nginx, int, int], dict[str, Any]]


@dataclass
class Result:
    """What came of a figure."""

    name: str
    value: float
    bar: float
    unit: str
    within: bool
    low: float
    high: float
    rounds: list[Any] = field(default_factory=list)
    note: str = ""


def against_wrk(
    path: str, connections: int, *, secure: bool = False
) -> Callable[[Nginx, int, int], dict[str, Any]]:
    """Client CPU per request as a ratio to wrk's, round by round."""

    def measure(nginx: Nginx, rounds: int, seconds: int) -> dict[str, Any]:
        kept, ratios = [], []
        url = nginx.secure_url(path) if secure else nginx.url(path)
        for number in range(rounds):
            order = list(TOOLS) if number % 2 == 0 else list(reversed(TOOLS))
            shots = {}
            for tool in order:
                before = nginx.cpu_s()
                shots[tool] = TOOLS[tool](url, connections, seconds)
                busy = (nginx.cpu_s() - before) / shots[tool].wall_s
                kept.append({"round": number, "tool": tool, **shown(shots[tool], busy)})
                time.sleep(BETWEEN_S)
            ratios.append(shots["torr"].cpu_us / shots["wrk"].cpu_us)
        middle = {tool: median(kept, tool, "cpu_us") for tool in TOOLS}
        busy = {tool: median(kept, tool, "target_core") for tool in TOOLS}
        rate = {tool: median(kept, tool, "rps") for tool in TOOLS}
        note = " · ".join(
            f"{tool} {middle[tool]:.2f} µs, {rate[tool]:,.0f}/s, target {busy[tool]:.0%}"
            for tool in TOOLS
        )
        return {"values": ratios, "rounds": kept, "note": note}

    return measure


def shown(shot: Shot, busy: float) -> dict[str, Any]:
    """What is kept of one run."""
    return {
        # As a reader would type it: the tool by name, not by where it was installed.
        "command": [Path(shot.command[0]).name, *shot.command[1:]],
        "requests": shot.requests,
        "cpu_s": shot.cpu_s,
        "seconds": shot.seconds,
        "cpu_us": shot.cpu_us,
        "rps": shot.requests / shot.seconds,
        "target_core": busy,
        "client_core": shot.cpu_s / shot.seconds,
        "output": shot.output,
    }


def median(kept: list[dict[str, Any]], tool: str, key: str) -> float:
    """The middle of one tool's values."""
    return statistics.median(entry[key] for entry in kept if entry["tool"] == tool)


def run_torr(*words: str) -> dict[str, Any]:
    """One run of torr on the client's core; its level."""
    output, _ = spend([TORR, "run", *words, "--workers", "1", "-o", "json", "-d", SCRATCH])
    level: dict[str, Any] = json.loads(output)["levels"][0]
    return level


def memory(nginx: Nginx, rounds: int, seconds: int) -> dict[str, Any]:
    """Bytes a connection beyond the base, at 10,000 connections."""
    kept, values = [], []
    for _ in range(min(rounds, 3)):
        few = run_torr(nginx.url("/small"), "-c", "10", "-z", f"{seconds}s")
        many = run_torr(nginx.url("/small"), "-c", "10000", "-z", f"{seconds}s")
        rss = [level["generator"]["max_rss_bytes"] for level in (few, many)]
        kept.append({"base": rss[0], "at_10000": rss[1], "open": many["connections"]["open_max"]})
        values.append((rss[1] - rss[0]) / many["connections"]["open_max"])
    note = f"base {kept[0]['base'] / 1e6:.1f} MB, {kept[0]['open']:,} open"
    return {"values": values, "rounds": kept, "note": note}


def base_memory(nginx: Nginx, rounds: int, seconds: int) -> dict[str, Any]:
    """MB of the whole process with its Python front, during a small run."""
    levels = [
        run_torr(nginx.url("/small"), "-c", "10", "-z", f"{seconds}s")
        for _ in range(min(rounds, 3))
    ]
    values = [level["generator"]["max_rss_bytes"] / 1e6 for level in levels]
    return {"values": values, "rounds": values}


def constant_rate(pick: str) -> Callable[[Nginx, int, int], dict[str, Any]]:
    """10,000/s over 64 connections for 60 s: how far from the plan, or how late."""

    def measure(nginx: Nginx, rounds: int, seconds: int) -> dict[str, Any]:
        length = "60s" if seconds > 2 else "10s"
        del rounds
        level = run_torr(nginx.url("/small"), "--rate", "10000", "-c", "64", "-z", length)
        slices = [one for one in level["slices"] if one["phase"] == "measure"]
        lags = [one["latency"]["lag_ms"]["p99"] for one in slices]
        tenth = max(len(slices) // 6, 1)
        first, last = statistics.median(lags[:tenth]), statistics.median(lags[-tenth:])
        achieved = abs(level["attempted_per_s"] / 10_000 - 1) * 100
        value = {"achieved": achieved, "lag": level["latency"]["lag_ms"]["p99"]}[pick]
        counts = [one["counts"]["attempted"] for one in slices]
        note = (
            f"{level['attempted_per_s']:.1f}/s, ok {level['ok_per_s']:.1f}/s, lag p50 "
            f"{level['latency']['lag_ms']['p50'] * 1000:.0f} µs; lag p99 of the first and last "
            f"sixth {first:.3f} and {last:.3f} ms; slices {min(counts)}…{max(counts)}; "
            f"{level['health']['verdict']}"
        )
        kept = {
            key: level[key]
            for key in ("counts", "attempted_per_s", "ok_per_s", "latency", "health")
        }
        return {"values": [value], "rounds": [kept], "note": note}

    return measure


def help_time(nginx: Nginx, rounds: int, seconds: int) -> dict[str, Any]:
    """Seconds of `torr --help`, on the wall."""
    del nginx, seconds
    values = []
    for _ in range(max(rounds, 3)):
        started = time.perf_counter()
        subprocess.run([TORR, "--help"], check=True, capture_output=True)
        values.append(time.perf_counter() - started)
    return {"values": values, "rounds": values}


def start_time(nginx: Nginx, rounds: int, seconds: int) -> dict[str, Any]:
    """Seconds from the start of the process to the first byte of its first request."""
    del nginx, seconds
    words = [
        TORR,
        "run",
        "{url}",
        "-c",
        "1",
        "--requests",
        "1",
        "--warmup",
        "0s",
        "-d",
        SCRATCH,
    ]
    values = [seconds_to_first_byte(words) for _ in range(max(rounds, 3))]
    return {"values": values, "rounds": values}


FIGURES = [
    Figure("small-64", 1.00, "× wrk", against_wrk("/small", 64)),
    Figure("small-256", 0.90, "× wrk", against_wrk("/small", 256)),
    Figure("small-1000", 0.80, "× wrk", against_wrk("/small", 1000)),
    Figure("16k-64", 0.90, "× wrk", against_wrk("/16k", 64)),
    Figure("64k-64", 0.85, "× wrk", against_wrk("/64k", 64)),
    Figure("tls-64", 1.00, "× wrk", against_wrk("/small", 64, secure=True)),
    Figure("tls-16k-64", 1.00, "× wrk", against_wrk("/16k", 64, secure=True)),
    Figure("bytes-a-connection", 1024, "B", memory),
    Figure("base-memory", 60, "MB", base_memory),
    Figure("rate-achieved", 0.1, "% off", constant_rate("achieved")),
    Figure("rate-lag-p99", 1.0, "ms", constant_rate("lag")),
    Figure("help", 0.3, "s", help_time),
    Figure("first-request", 0.6, "s", start_time),
]


def chosen(names: list[str]) -> list[Figure]:
    """The figures whose names start with one of these; all of them for none."""
    found = [
        figure
        for figure in FIGURES
        if not names or any(figure.name.startswith(name) for name in names)
    ]
    if not found:
        sys.exit(f"no such figure; there are: {', '.join(figure.name for figure in FIGURES)}")
    return found


def measure(figure: Figure, nginx: Nginx, rounds: int, seconds: int) -> Result:
    """Measures one figure; its value is the median."""
    found = figure.measure(nginx, rounds, seconds)
    values, value = found["values"], statistics.median(found["values"])
    return Result(
        figure.name, value, figure.bar, figure.unit, value <= figure.bar, min(values), max(values),
        found["rounds"], found.get("note", ""),
    )  # fmt: skip
