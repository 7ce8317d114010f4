"""Processor time per request, tool after tool in each round, on the same target."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from common.nginx import Nginx
from versus.bars import OVER_BARE, Bar, judge_ratio
from versus.load import Load
from versus.row import Measured, Plan, in_turn
from versus.shot import attempt
from versus.tools import ALL, FAR, Tool

BETWEEN_S = 0.2
# Two written in C that parse as little as they can: level with them is enough, at 64 connections.
NEAR = ("ab", "h2load")
OVER_NEAR = 1.15
# A change of the engine may not cost more than measurements can tell.
OVER_EARLIER = 1.02


Measure = Callable[[Nginx, Plan], Measured]


@dataclass(frozen=True)
class Contest:
    """Who fires at what; `others` gives some of the tools another address."""

    url: str
    connections: int
    tools: Sequence[Tool]
    bars: Sequence[Bar]
    others: dict[str, str] = field(default_factory=dict)


def plain(path: str, connections: int, over_wrk: float, *, floor: bool = False) -> Measure:
    """Return the measure of a response over HTTP; with `floor` no bar is below the bare loop's."""
    bars = [
        Bar("torr", "wrk", over_wrk, bare_rules=floor),
        Bar("torr", "earlier", OVER_EARLIER),
        Bar("torr", "bare", OVER_BARE),
        *(Bar("torr", near, OVER_NEAR) for near in NEAR if connections == 64),
        *(Bar("torr", far, 1.0) for far in FAR),
    ]

    def measure(nginx: Nginx, plan: Plan) -> Measured:
        tools = list(ALL.values())
        return compare(nginx, plan, Contest(nginx.url(path), connections, tools, bars))

    return measure


def secure(path: str, connections: int, *names: str) -> Measure:
    """Return the measure of a response over TLS, kept alive, by these tools."""
    bars = [
        Bar("torr", "wrk", 1.0),
        Bar("torr", "earlier", OVER_EARLIER),
        *(Bar("torr", far, 1.0) for far in FAR if far in names),
    ]

    def measure(nginx: Nginx, plan: Plan) -> Measured:
        tools = [tool for name, tool in ALL.items() if name in (*names, "earlier")]
        return compare(nginx, plan, Contest(nginx.secure_url(path), connections, tools, bars))

    return measure


def compare(nginx: Nginx, plan: Plan, contest: Contest) -> Measured:
    """Fires the tools in turn, round after round."""
    present, absent = plan.present(contest.tools)
    measured = Measured(left_out=absent)
    for number in range(plan.rounds):
        for tool in in_turn(present, number):
            url = contest.others.get(tool.name, contest.url)
            seconds = max(plan.seconds - 1, 1) if tool.name in FAR else plan.seconds
            if tool.name in absent:
                continue
            shot = attempt(tool, Load(url, contest.connections, seconds), nginx, absent)
            measured.shots += [shot.kept(number)] if shot else []
            time.sleep(BETWEEN_S)
    judged = [judge_ratio(bar, measured.shots) for bar in contest.bars]
    measured.bars = [one for one in judged if one]
    return measured
