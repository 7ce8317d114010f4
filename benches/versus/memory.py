"""What torr holds: for each connection, for users who think, and for itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from versus.bars import Limit, judge
from versus.load import Load
from versus.places import in_use
from versus.row import Measured, Plan
from versus.shot import Ended, spend
from versus.tools import ALL, Tool, torr

if TYPE_CHECKING:
    from common.nginx import Nginx

MOST_ROUNDS = 3
EACH = Limit(1024, "B")
BASE = Limit(60, "MB")
USERS = 100_000
ALL_USERS = Limit(200, "MB")
THINKING = ("--think", "10s", "--pool", "1000")


def run(tool: Tool, load: Load) -> tuple[dict[str, Any], Ended]:
    """One run of torr: its level, and what the whole process used."""
    ended = spend(tool.command(load))
    level: dict[str, Any] = json.loads(ended.output)["levels"][0]
    return level, ended


def connections(nginx: Nginx, plan: Plan) -> Measured:
    """Bytes a connection beyond the base, at 10,000 connections; and the base itself.

    Both are the peak while the load runs; the report that is drawn afterwards stands beside them.
    """
    tool, kept = ALL["torr"], []
    for number in range(min(plan.rounds, MOST_ROUNDS)):
        few, whole = run(tool, Load(nginx.url("/small"), 10, plan.seconds))
        many, _ = run(tool, Load(nginx.url("/small"), 10_000, plan.seconds))
        base, full = (level["generator"]["max_rss_bytes"] for level in (few, many))
        opened = many["connections"]["open_max"]
        kept.append({
            "round": number,
            "base_bytes": base,
            "full_bytes": full,
            "with_report_bytes": whole.max_rss_bytes,
            "open": opened,
            "each": (full - base) / opened,
        })  # fmt: skip
    each = [one["each"] for one in kept]
    base_mb = [one["base_bytes"] / 1e6 for one in kept]
    report_mb = max(one["with_report_bytes"] for one in kept) / 1e6
    opened = min(one["open"] for one in kept)
    bars = [
        judge("a connection", each, EACH, f"{opened:,} open"),
        judge("the process", base_mb, BASE, f"10 connections; {report_mb:.0f} MB with its report"),
    ]
    return Measured(bars, kept)


def thinking(nginx: Nginx, plan: Plan) -> Measured:
    """Peak memory of the whole process with 100,000 users who think, on 1,000 connections."""
    tool = Tool("torr", torr(*THINKING), ALL["torr"].read, "torr", needs=("--pool",))
    if reason := tool.absent():
        return Measured(left_out={"torr": reason})
    kept = []
    load = Load(nginx.url("/small"), USERS, max(plan.seconds, 1) + 9)
    for number in range(min(plan.rounds, MOST_ROUNDS)):
        level, ended = run(tool, load)
        kept.append({
            "round": number,
            "command": in_use(tool.command(load)),
            "max_rss_bytes": ended.max_rss_bytes,
            "open": level["connections"]["open_max"],
            "per_s": level["attempted_per_s"],
            "core": level["generator"]["cpu_s"] / level["seconds"],
        })  # fmt: skip
    last = kept[-1]
    note = f"{last['open']:,} open, {last['per_s']:,.0f}/s, client {last['core']:.0%} of a core"
    values = [one["max_rss_bytes"] / 1e6 for one in kept]
    return Measured([judge("100,000 users", values, ALL_USERS, note)], kept)
