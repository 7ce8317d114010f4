"""The `[monitor]` of a plan file or a matrix file: what to watch, and what to ask it.

[monitor]
at = ["http://localhost:9090"]      # as --monitor: processes, /metrics, Prometheus servers
names = ["process_*", "http_*"]     # of a /metrics, by patterns, the dearest first
sets = ["node", "postgres"]         # of queries to a server [all]
[monitor.queries]
queue = "sum(queue_length)"         # and one's own, by name
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from torr.errors import UsageError, require
from torr.monitor.query_sets import SETS, queries_of

if TYPE_CHECKING:
    from torr.sources.toml_table import TomlTable

MONITOR_KEYS = ("at", "names", "sets", "queries")


@dataclass(frozen=True, slots=True)
class MonitorEntry:
    """What a file says of watching; `at` are texts as --monitor takes them.

    Without names, sets or queries what is usual is meant: None, and an empty table.
    """

    at: tuple[str, ...] = ()
    names: tuple[str, ...] | None = None
    queries: dict[str, str] = field(default_factory=dict)


def monitor_in(top: TomlTable) -> MonitorEntry:
    """What a file's `monitor` says, a table or as the flag has it; raises FileError."""
    found = top.found.get("monitor", {})
    said = found if isinstance(found, dict) else {"at": found}
    return monitor_of(replace(top, place="monitor", found=said))


def monitor_of(table: TomlTable) -> MonitorEntry:
    """What a table says; raises FileError."""
    table.check_keys(MONITOR_KEYS)
    names = table.texts("names", 'names = ["process_*"]') if "names" in table.found else None
    return MonitorEntry(
        at=_at(table),
        names=None if names is None else tuple(names),
        queries={**_of_sets(table), **_own(table)},
    )


def _at(table: TomlTable) -> tuple[str, ...]:
    found = table.found.get("at", [])
    with table.at("at"):
        each = found if isinstance(found, list) else [found]
        fits = all(isinstance(e, str | int) and not isinstance(e, bool) for e in each)
        require(fits, "what to watch is no text", 'write "http://localhost:9090", or a PID')
        return tuple(str(e) for e in each)


def _of_sets(table: TomlTable) -> dict[str, str]:
    if "sets" not in table.found:
        return {}
    sets = table.texts("sets", 'sets = ["node"]')
    for number, name in enumerate(sets):
        with table.at(f"sets.{number}"):
            require(name in SETS, f"there is no set {name!r}", f"there is {', '.join(SETS)}")
    return queries_of(tuple(sets))


def _own(table: TomlTable) -> dict[str, str]:
    found = table.found.get("queries", {})
    with table.at("queries"):
        if not isinstance(found, dict):
            raise UsageError("queries is no table", "write [monitor.queries] above them")
    for name, query in found.items():
        with table.at(f"queries.{name}"):
            require(isinstance(query, str), f"query {name!r} is no text")
    return dict(found)
