"""From flags to a Plan: a table of contents, and the defaults that depend on several parts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torr.errors import UsageError, require
from torr.model.pace import Closed
from torr.model.plan import Plan
from torr.planning.conditions import check_conditions
from torr.planning.groups import Load, groups_of
from torr.planning.pace import timing_of
from torr.planning.requests import asked_of
from torr.planning.transport import transport_of
from torr.sources.names import is_plan_file
from torr.store.environment import allowed_cores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.plan import Group
    from torr.model.url import Url

Flags = dict[str, Any]


def plan_of(urls: str | Sequence[str], flags: Flags) -> Plan:
    """The plan that a command's flags describe; raises UsageError that names the flag."""
    load = _load([urls] if isinstance(urls, str) else urls, flags)
    requests = [request for group in load.groups for request in group.source.requests]
    check_conditions([*flags["slos"], *flags["abort_on"]], requests)
    drain_ns = flags["drain"]
    places = [request.place for request in requests]
    return Plan(
        groups=load.groups,
        stop=load.stop,
        transport=transport_of(flags),
        warmup_ns=load.warmup_ns,
        drain_ns=max(r.timeout_ns for r in requests) if drain_ns is None else drain_ns,
        retry_delay_ns=flags["retry_delay"],
        workers=flags["workers"] or default_workers(places, allowed_cores()),
        processes=flags["processes"],
        seed=flags["seed"],
        spin=_spin(load.groups, flags),
        log=_log(flags.get("log")),
    )


def _load(urls: Sequence[str], flags: Flags) -> Load:
    """Who sends what, and until when: as a plan file says, or as the flags do."""
    if urls and is_plan_file(urls[0]):
        from torr.planning.plan_file import load_of_file

        return load_of_file(urls, flags)
    timing = timing_of(flags)
    return Load(groups_of(asked_of(urls, flags), timing.pace, flags), timing.stop, timing.warmup_ns)


def default_workers(places: Sequence[Url], cores: int) -> int:
    """One worker a core; half of the cores, at least one, when a target shares them."""
    return max(1, cores // 2) if any(place.is_loopback for place in places) else cores


def _spin(groups: Sequence[Group], flags: Flags) -> bool:
    spins = bool(flags.get("spin"))
    arrives = any(not isinstance(group.pace, Closed) for group in groups)
    require(arrives or not spins, "--spin needs arrivals: users wait for answers", "add --rate 1k")
    return spins


def _log(text: str | None) -> str | None:
    """The log's path, once it is sure that it can be written."""
    if text is None:
        return None
    path = Path(text)
    if path.is_dir():
        raise UsageError(f"--log {text}: is a directory", "name a file")
    if not path.parent.is_dir():
        raise UsageError(f"--log {text}: {path.parent} does not exist", "make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"--log {text}: cannot be written", "choose another file")
    return text
