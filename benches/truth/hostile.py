"""A target that never ends a response beside a good one: what the good one's requests feel."""

from __future__ import annotations

import tempfile
from pathlib import Path

from truth.firing import Level, fired, health_of, target
from truth.row import Round, Value

BAR = "p99 of the others within twice that of a run without them, healthy"

# Each fault with what is looked for in its responses, so that they are kept.
_FAULTS = {
    "endless_body": 'expect_body = "end"',
    "endless_line": 'stream = "sse"',
    "gzip_bomb": 'expect_body = "end"',
}
# A stream cannot be compressed.
_TOP = {"gzip_bomb": "compressed = true\n"}
_PLAN = """\
[[requests]]
name = "good"
url = "{good}"

[[groups]]
name = "good"
requests = ["good"]
rate = "1000"
connections = 100
"""
_HOSTILE = """
[[requests]]
name = "hostile"
url = "{hostile}"
timeout = "2s"
{looks_for}

[[groups]]
name = "hostile"
requests = ["hostile"]
users = 100
"""


def measure(seconds: int) -> Round:
    """The p99 of requests to the good target, as a multiple of what it is without the others."""
    with target("delay", "--delay", "5ms", seconds=600) as (good, _):
        alone = _level(_PLAN.format(good=good), seconds)
        beside = {fault: _beside(good, fault, seconds) for fault in _FAULTS}
    known = _p99(alone)
    values = {
        f"p99 beside {fault}": Value(max(_p99(level) / known, 1.0), 1.0, 1.0)
        for fault, level in beside.items()
    }
    return Round(values, {"p99 alone, ms": known, **health_of(alone)})


def _beside(good: str, fault: str, seconds: int) -> Level:
    words = ("faulty", "--fault", fault, "--share", "100%")
    with target(*words, seconds=120) as (hostile, _):
        more = _HOSTILE.format(hostile=hostile, looks_for=_FAULTS[fault])
        return _level(_TOP.get(fault, "") + _PLAN.format(good=good) + more, seconds)


def _level(plan: str, seconds: int) -> Level:
    with tempfile.TemporaryDirectory(prefix="torr-truth-") as place:
        file = Path(place) / "plan.toml"
        file.write_text(plan)
        return fired(str(file), "-z", f"{seconds}s")


def _p99(level: Level) -> float:
    step = next(step for step in level["requests"] if step["name"] == "good")
    return float(step["latency"]["response_ms"]["p99"])
