"""The `[monitor]` of a plan file or a matrix file: the monitored sources and the queries to them.

[monitor]
at = ["http://localhost:9090"]      # as --monitor: processes, /metrics, Prometheus servers
names = ["process_*", "http_*"]     # patterns of names in a /metrics, the most important first
sets = ["node", "postgres"]         # sets of queries to a Prometheus server [all]
[monitor.queries]
queue = "sum(queue_length)"         # custom queries, by name
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from torr.errors import require
from torr.messages.say import say
from torr.monitor.query_sets import SETS, queries_in

if TYPE_CHECKING:
    from torr.sources.toml_table import TomlTable

_HINT = say('write "http://localhost:9090", or a PID')
MONITOR_KEYS = ("at", "names", "sets", "queries")


@dataclass(frozen=True, slots=True)
class MonitorEntry:
    """The monitoring of a file; `at` are values of --monitor.

    Without names or queries, which are then None or empty, the defaults apply.
    """

    at: tuple[str, ...] = ()
    names: tuple[str, ...] | None = None
    queries: dict[str, str] = field(default_factory=dict)


def read_monitor(top: TomlTable) -> MonitorEntry:
    """Return the `monitor` of a file, which is a table or a value of the flag; raise FileError."""
    monitor = top.values.get("monitor", {})
    values = monitor if isinstance(monitor, dict) else {"at": monitor}
    return _monitor_of(replace(top, prefix="monitor", values=values))


def _monitor_of(table: TomlTable) -> MonitorEntry:
    """Return the monitoring of a table; raise FileError."""
    table.check_keys(MONITOR_KEYS)
    names = table.texts("names", say('names = ["process_*"]')) if "names" in table.values else None
    return MonitorEntry(
        at=tuple(
            table.one_or_more("at", str | int, say("at is neither a text nor a process id"), _HINT)
        ),
        names=None if names is None else tuple(names),
        queries={**_queries_in_sets(table), **_custom_queries(table)},
    )


def _queries_in_sets(table: TomlTable) -> dict[str, str]:
    if "sets" not in table.values:
        return {}
    sets = table.texts("sets", say('sets = ["node"]'))
    for number, name in enumerate(sets):
        with table.errors_at(f"sets.{number}"):
            require(
                name in SETS,
                say("there is no set {name!r}", name=name),
                say("choose one of {sets}", sets=", ".join(SETS)),
            )
    return queries_in(tuple(sets))


def _custom_queries(table: TomlTable) -> dict[str, str]:
    queries = table.table("queries", say("write [monitor.queries] above them")).values
    for name, query in queries.items():
        with table.errors_at(f"queries.{name}"):
            require(isinstance(query, str), say("query {name!r} is not a text", name=name))
    return queries
