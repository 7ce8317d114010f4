"""Nodes with clocks of their own: children in time namespaces, whose offsets are known."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest

from torr import _engine
from torr.children import command
from torr.model.plan import Closed, Duration, Group, Open, Plan
from torr.model.request import Request
from torr.model.source import Source

# Connects to the port that is its argument, and becomes an engine on the connection.
JOIN = """
import os, socket, sys
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
os.dup2(connection.fileno(), 0)
os.dup2(connection.fileno(), 1)
os.execv(sys.argv[2], sys.argv[2:])
"""
SKEWS_S = (1_000, 5_000_000)
MS = 1_000_000


@contextmanager
def node_at(skew_s):
    """Run an engine whose clock is ahead by so many seconds; yield the connection to it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        join = [sys.executable, "-c", JOIN, str(listener.getsockname()[1]), *command("fire")]
        namespace = ["unshare", "--time", "--fork", "--kill-child"]
        namespace += ["--monotonic", str(skew_s), "--boottime", str(skew_s)]
        process = subprocess.Popen([*namespace, *join])
        listener.settimeout(60)
        connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.settimeout(None)
    try:
        with connection:
            yield connection
    finally:
        process.wait(timeout=60)


def level_of(pace):
    """Fire from nodes with these skews; return level, intervals and the target's counts."""
    target = _engine.Target(json.dumps({"kind": "hello"}))
    source = Source.of(Request(f"http://127.0.0.1:{target.port}/"))
    plan = Plan(groups=(Group(pace=pace, source=source),), stop=Duration(1_000 * MS))
    with node_at(SKEWS_S[0]) as first, node_at(SKEWS_S[1]) as second:
        sockets = [("first", first.fileno()), ("second", second.fileno())]
        run = _engine.Run.on_nodes(plan.to_text(), sockets)
        intervals = []
        while not run.done():
            if text := run.next_interval(0.1):
                intervals.append(json.loads(text))
        level = json.loads(run.level())
        del run
    counts = json.loads(target.counts())
    target.stop()
    return level, intervals, counts


@pytest.mark.parametrize("pace", [Closed(4), Open(400, connections=8)], ids=["closed", "rate"])
def test_offsets_are_found_within_the_error_that_is_stated(pace):
    level, intervals, counts = level_of(pace)
    assert counts["requests"] == counts["answered"]
    warm_up = sum(x["counts"]["attempted"] for x in intervals if x["phase"] == "warmup")
    assert counts["requests"] == warm_up + level["counts"]["attempted"]
    for node, skew_s in zip(level["generator"]["nodes"], SKEWS_S, strict=True):
        clock = node["clock"]
        assert abs(clock["offset_ms"] - 1_000 * skew_s) <= clock["error_ms"]
    assert level["warnings"] == []


def test_intervals_lie_where_they_were_on_this_clock():
    level, intervals, _ = level_of(Closed(4))
    starts = [x["t_s"] for x in intervals if x["phase"] == "measure"]
    error_s = max(x["clock"]["error_ms"] for x in level["generator"]["nodes"]) / 1_000
    assert starts == pytest.approx([number / 10 for number in range(10)], abs=error_s)
