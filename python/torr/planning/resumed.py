"""Checks of a continued run: it must be the one that the file and the flags describe."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from torr.errors import UsageError, require
from torr.messages.say import chain, say
from torr.results.base import encode
from torr.units import format_duration
from torr.verdicts.across import is_another

if TYPE_CHECKING:
    from pathlib import Path

    from torr.results.result import RunHead
    from torr.store.rundir import RunDirectory

# The keys of the experiment that are compared first: their differences are easy to understand.
_FIRST_KEYS = ("baseline", "factors", "seed", "restart", "rounds", "until", "pin", "candidates")
_AT_THE_END = {"answers", "differences", "rules", "given_up", "allow_not_shown"}
# Known when a tuning with a budget of time has tried its default.
_OF_BUDGET = {"search", "stages"}


def check_resumed(head: RunHead, path: Path | None, directory: RunDirectory) -> None:
    """Raise UsageError unless the run in a directory began as `head` does, on this machine."""
    place = f"--resume {path}"
    require(
        directory.head.kind == head.kind and all(level.candidate for level in directory.levels),
        say(
            "{place}: this is no run of torr {verb} that can be continued",
            place=place,
            verb=head.kind,
        ),
        say("give the directory that torr {verb} named when it ended", verb=head.kind),
    )
    # Both without secrets, as a run directory keeps them.
    before, now = (
        directory.outside.json(json.loads(encode(x.experiment))) for x in (directory.head, head)
    )
    keys = {*before, *now} - _AT_THE_END
    if head.kind == "tune" and head.experiment.search is None:
        keys -= _OF_BUDGET
    for key in (*_FIRST_KEYS, *sorted(keys - set(_FIRST_KEYS))):
        then_value, now_value = _comparable(before.get(key), now.get(key))
        if then_value != now_value:
            raise UsageError(
                chain(": ", [str(place), _difference(key, then_value, now_value)]),
                say("give the file and the flags that it began with"),
            )
    require(
        not is_another(directory.head.environment, head.environment),
        say("{place}: it began on another machine", place=place),
        say("continue it there, or start a new one"),
    )


def _comparable(then: Any, now: Any) -> tuple[Any, Any]:  # noqa: ANN401 - JSON
    """Return both values; of each candidate only the keys that both have."""
    if not (isinstance(then, dict) and isinstance(now, dict) and then.keys() == now.keys()):
        return then, now
    pairs = {name: _shared(then[name], now[name]) for name in now}
    return {name: a for name, (a, _) in pairs.items()}, {name: b for name, (_, b) in pairs.items()}


def _shared(then: Any, now: Any) -> tuple[Any, Any]:  # noqa: ANN401 - JSON
    if not (isinstance(then, dict) and isinstance(now, dict)):
        return then, now
    both = [key for key in now if key in then]
    return {key: then[key] for key in both}, {key: now[key] for key in both}


def _difference(key: str, then: Any, now: Any) -> str:  # noqa: ANN401 - JSON
    """Return how two values differ: both of them, or those of the first member that differs."""
    if isinstance(then, dict) and isinstance(now, dict):
        if then.keys() != now.keys():
            return _changed(key, ", ".join(then), ", ".join(now))
        name = next(name for name in now if then[name] != now[name])
        if key == "checksums":
            return say("{what} has changed since the start", what=name)
        return _difference(f"{key}: {name}" if key == "candidates" else name, then[name], now[name])
    if key.endswith("_ns"):
        key, then, now = key[:-3], _duration(then), _duration(now)
    return _changed(key, then, now)


def _changed(what: str, then: object, now: object) -> str:
    return say(
        "{what} was {then} at the start, and is {now} now",
        what=what,
        then=then,
        now=now,
    )


def _duration(value: object) -> object:
    return format_duration(value) if isinstance(value, int) else value
