"""Rows about the protocol of a load, for tables of its settings: version of HTTP, methods of gRPC.

Levels know their version of HTTP, and plans the methods of gRPC: a request in a file can have any
name. Loads of Locust have neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from torr.messages.say import chain, say
from torr.report.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.model.json import JsonObject
    from torr.results.level import Level
    from torr.results.result import RunResult


def protocol(result: RunResult) -> list[tuple[str, str]]:
    """Return the versions of HTTP of the levels, and the methods of gRPC that were called."""
    versions = dict.fromkeys(_version(level) for level in result.levels if level.http)
    plans = [result.plan, *(known.get("plan") for known in result.experiment.candidates.values())]
    methods = dict.fromkeys(method for plan in plans if plan for method in _methods(plan))
    rows: list[tuple[str, str]] = []
    if versions:
        rows.append((say("version of HTTP"), chain(", ", list(versions))))
    if methods:
        rows.append((say("method of gRPC"), ", ".join(methods)))
    return rows


def configuration(result: RunResult) -> Table | None:
    """Return the protocol of a ladder, a row a setting; None if nothing is known of it."""
    rows = protocol(result)
    return Table((say("setting"), say("value")), tuple(rows), frozenset({0, 1})) if rows else None


def _version(level: Level) -> str:
    if level.websocket:
        return say("{version}, then WebSocket", version=level.http)
    return say("{version} without TLS", version="2") if level.http == "2c" else str(level.http)


def _methods(plan: JsonObject) -> Iterator[str]:
    """Yield the method of each call of a plan, which is the path of its URL."""
    for group in plan.get("groups", []):
        source = group.get("source", {})
        for request in source.get("requests", [source.get("request", {})]):
            if request.get("grpc"):
                yield urlsplit(request["url"]).path.strip("/")
