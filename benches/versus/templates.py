"""Requests made from a template and answers whose body is looked at: torr, and wrk in Lua."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from versus import reading
from versus.bars import Bar
from versus.places import SCRIPTS, scratch
from versus.speed import Contest, compare
from versus.tools import ALL, Tool, torr, wrk

if TYPE_CHECKING:
    from common.nginx import Nginx
    from versus.row import Measured, Plan

USERS = 1000
CONNECTIONS = 64
OVER_PLAIN = 1.5
WRK_OVER_TORR = 1.5


def measure(nginx: Nginx, plan: Plan) -> Measured:
    """Three variables in the path and a word in the body, against the same path without them."""
    users = scratch() / "users.csv"
    names = (f"user{number}" for number in range(USERS))
    users.write_text("\n".join(["name", *names]) + "\n")
    checked = torr("--data", str(users), "--expect-body", "hello")
    lua = wrk("-s", str(SCRIPTS / "templates.lua"), "--", str(users))
    needs = ("--data", "--expect-body")
    tools = [
        ALL["torr"],
        Tool("torr-templates", checked, reading.torr, "torr", needs=needs),
        replace(ALL["wrk"], name="wrk-lua", command=lua),
    ]
    bars = [
        Bar("torr-templates", "torr", OVER_PLAIN),
        Bar("wrk-lua", "torr-templates", WRK_OVER_TORR, "≥"),
    ]
    made = nginx.url("/hello/{{row.name}}?id={{seq}}&r={{rand 1 100}}")
    plain = nginx.url("/hello/user0?id=1&r=1")
    others = {"torr-templates": made}
    return compare(nginx, plan, Contest(plain, CONNECTIONS, tools, bars, others))
