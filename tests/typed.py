"""Parts of results as types, made of their JSON."""

from __future__ import annotations

import json

from msgspec import UNSET

from torr.engine import decoded_interval, decoded_level
from torr.results.base import builtins, convert
from torr.results.level import Interval, Level
from torr.results.profile import Profile
from torr.results.result import RunResult
from torr.results.verdict import Verdict

SMALLEST_LEVEL = {
    "concurrency": 1,
    "seconds": 1.0,
    "counts": {},
    "ok_per_s": 0.0,
    "health": {"verdict": "healthy"},
}
SMALLEST_RESULT = {
    "schema": 2,
    "torr": "0.1.0",
    "kind": "run",
    "name": "api",
    "started": "2026-01-31T12:00:00.000Z",
    "status": "complete",
}


def made(kind, members):
    """Return a part of a result; members may be JSON, parts, or both."""
    known = {name: value for name, value in members.items() if value is not UNSET}
    return convert(builtins(known), kind)


def level(**members):
    """Return a level with these members of its JSON."""
    return made(Level, {**SMALLEST_LEVEL, **members})


def interval(**members):
    """Return an interval with these members of its JSON."""
    return made(Interval, {"t_s": 0.0, "seconds": 1.0, "phase": "measure", **members})


def profile(**members):
    """Return a profile with these members of its JSON."""
    smallest = {"tool": "perf", "concurrency": 1, "seconds": 1, "ok_per_s": None}
    return made(Profile, {**smallest, **members})


def verdict(**members):
    """Return a verdict with these members of its JSON."""
    return made(Verdict, {"metric": "ok_per_s", **members})


def result(**members):
    """Return a result with these members of its JSON."""
    return made(RunResult, {**SMALLEST_RESULT, **members})


def changed(part, **members):
    """Return a part of a result with other members."""
    return made(type(part), {**builtins(part), **members})


def patched(part, **members):
    """Return a part of a result with members merged into its objects: `patched(level, stream={…})`.

    Entries of a list are named by their place: `patched(result, levels={0: {"starved": 1}})`.
    """
    return made(type(part), _merged(builtins(part), members))


def _merged(old, new):
    if isinstance(new, dict) and isinstance(old, dict):
        return {**old, **{key: _merged(old.get(key), value) for key, value in new.items()}}
    if isinstance(new, dict) and isinstance(old, list):
        return [_merged(item, new[at]) if at in new else item for at, item in enumerate(old)]
    return builtins(new)


def engine_level(members):
    """Return a level as it is read from what the engine writes."""
    return decoded_level(json.dumps(members))


def engine_interval(members):
    """Return an interval as it is read from what the engine writes."""
    return decoded_interval(json.dumps(members))
