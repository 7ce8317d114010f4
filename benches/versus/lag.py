"""Keeping time at a constant rate on an otherwise idle core, seen by the target."""

from __future__ import annotations

import bisect
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from common.target import Listener, now_ns
from versus import reading
from versus.bars import Judged, Limit, judge
from versus.lateness import lateness
from versus.load import Load
from versus.row import Measured, Plan, in_turn, middle
from versus.shot import attempt
from versus.tools import ALL, Tool, torr

if TYPE_CHECKING:
    from common.nginx import Nginx
    from versus.speed import Measure

CONNECTIONS = 64
BETWEEN_S = 0.2
SPIN = "torr-spin"
LIMITS = {"torr": Limit(150, "µs"), SPIN: Limit(50, "µs")}
TARGET_CORE = 1


def at_rate(rate: int) -> Measure:
    """Return the measure of all tools that can keep a rate, at this one."""

    def measure(nginx: Nginx, plan: Plan) -> Measured:
        del nginx
        tools = [
            ALL["torr"],
            Tool(SPIN, torr("--spin"), reading.torr, "torr", needs=("--spin",)),
            # Never asleep, it does nothing but send: what it has of lateness is the machine's.
            *(ALL[name] for name in ("bare", "k6", "vegeta", "oha")),
        ]
        present, absent = plan.present(tools)
        measured = Measured(left_out=absent)
        windows: list[tuple[int, int]] = []
        with Listener(TARGET_CORE) as target:
            load = Load(f"{target.url}/", CONNECTIONS, plan.seconds + 1, rate)
            for number in range(plan.rounds):
                for tool in in_turn(present, number):
                    if tool.name in absent:
                        continue
                    started = now_ns()
                    if shot := attempt(tool, load, target, absent):
                        windows.append((started, now_ns()))
                        measured.shots.append(shot.kept(number))
                    time.sleep(BETWEEN_S)
        stamps = target.arrivals()
        for (first, last), kept in zip(windows, measured.shots, strict=True):
            seen = stamps[bisect.bisect_left(stamps, first) : bisect.bisect_right(stamps, last)]
            try:
                kept.update(_by_the_log(seen, rate, kept))
            except ValueError as error:
                absent[kept["tool"]] = str(error)
        measured.shots = [kept for kept in measured.shots if kept["tool"] not in absent]
        judged = [tool.name for tool in present if tool.name in LIMITS.keys() - absent.keys()]
        measured.bars = [_judged(measured, name, rate) for name in judged]
        return measured

    return measure


def _by_the_log(seen: list[int], rate: int, shot: dict[str, Any]) -> dict[str, Any]:
    """The arrivals of one shot, and the figures that want their number."""
    requests, seconds = len(seen), shot["seconds"]
    return {
        **asdict(lateness(seen, rate)),
        "requests": requests,
        "target_requests": requests,
        "per_s": requests / seconds,
        "cpu_us": shot["cpu_s"] * 1e6 / max(requests, 1),
        "target_core": shot["target_cpu_s"] / seconds,
    }


def _judged(measured: Measured, name: str, rate: int) -> Judged:
    values = [shot["p99_us"] for shot in measured.shots if shot["tool"] == name]
    note = f"p50 {middle(measured.shots, name, 'p50_us'):.1f} µs of {rate:,}/s"
    return judge(f"{name}: p99", values, LIMITS[name], note)
