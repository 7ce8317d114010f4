"""From a plan file to groups of users; its other keys are flags (`plan_defaults`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from torr.cli.requesting import check_streams, finished, request_of, with_limits
from torr.errors import require
from torr.model.pace import Closed
from torr.model.plan import Group
from torr.model.shares import dealt_to_each
from torr.model.source import Source
from torr.model.url import Url
from torr.sources.entry import at
from torr.sources.plan_file import GroupEntry, PlanFile, read_plan_file
from torr.sources.rows import columns_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.request import Request

Flags = dict[str, Any]

# Long names of flags that have no place beside a plan file.
SAID_BY_FILE = (
    *("requests-file", "method", "body", "json-body", "chat", "weights", "steps", "data"),
    *("capture", "rate", "stages", "replay", "pool", "stream"),
)
_DEFAULT_USERS = 50


def groups_of_file(urls: Sequence[str], flags: Flags) -> tuple[Group, ...]:
    """The groups of a plan file, whose argument is the first; raises FileError."""
    require(len(urls) <= 2, "a plan file and several URLs are given", "give one URL, or none")
    for name in SAID_BY_FILE:
        given = flags.get(name.replace("-", "_")) not in (None, (), False)
        require(not given, f"--{name} and a plan file are both given", "write it into the file")
    file = read_plan_file(Path(urls[0]))
    base = Url.parse(urls[1]) if len(urls) > 1 else _base(file)
    requests = {
        entry.name: with_limits(finished(request_of(entry, base, flags), flags), flags)
        for entry in file.requests
    }
    check_streams(tuple(requests.values()), flags)
    entries = file.groups or (GroupEntry(1, "default", tuple(requests), weight=1),)
    users = _users(entries, flags)
    return tuple(
        _group(file, entry, count, requests, flags)
        for entry, count in zip(entries, users, strict=True)
    )


def _base(file: PlanFile) -> Url | None:
    if file.url is None:
        return None
    with at(file.path, file.lines.get("url", 1)):
        return Url.parse(file.url)


def _users(entries: Sequence[GroupEntry], flags: Flags) -> list[int]:
    """How many users each group has: its own number, or its part of the others by weight."""
    weights = [entry.weight or 0 for entry in entries]
    counted = [entry.users or 0 for entry in entries]
    if not any(weights):
        total = sum(counted)
        asked = flags.get("connections")
        if asked is None or asked == total:
            return counted
        return list(dealt_to_each(asked, counted, "user", "-c"))
    require(not any(counted), "some groups have users, others a weight", "give all of them either")
    total = flags.get("connections") or max(_DEFAULT_USERS, len(entries))
    return list(dealt_to_each(total, weights, "user", "-c"))


def _group(
    file: PlanFile, entry: GroupEntry, users: int, requests: dict[str, Request], flags: Flags
) -> Group:
    with at(file.path, entry.line):
        chosen = tuple(requests[name] for name in entry.requests)
        places = {request.place.endpoint for request in chosen}
        require(
            len(places) == 1,
            f"the requests of {entry.name!r} go to several servers",
            "a user keeps one connection: write a group for each server",
        )
        source = Source(chosen, "steps" if entry.steps else "turn", entry.weights)
        source.check_names(None if entry.data is None else columns_of(Path(entry.data)))
        return Group(
            pace=Closed(users),
            source=source,
            name=entry.name,
            think=entry.think or flags["think"],
            data=entry.data if source.uses_rows else None,
            share=entry.users or entry.weight or 1,
        )
