"""A plan file: requests, user groups, and every flag by its name, in TOML.

    url = "http://localhost:8001"
    duration = "5m"                     # a key is a flag of the command, `_` for `-`
    [[requests]]
    name = "simple"
    url = "/v1/chat-messages"           # also method, headers, json, body, stream, timeout, …
    json = { query = "{{row.query}}", response_mode = "streaming", user = "u", inputs = {} }
    [[groups]]
    requests = ["simple"]               # in turn, by weights, or as steps
    users = 40                          # see `group_entry`
    think = "1s-3s"

A file of a chat has `chat` in place of requests and groups, and all flags that go with it.

Errors name the file and the line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torr.errors import require
from torr.messages.say import say
from torr.sources.entry import Entry, errors_at
from torr.sources.group_entry import GroupEntry, group_of
from torr.sources.members import CHECKS, Spelling, entry_of
from torr.sources.monitor_entry import MonitorEntry, read_monitor
from torr.sources.toml_table import TomlTable, check_names_differ, read_table

if TYPE_CHECKING:
    from pathlib import Path

    from torr.model.json import JsonObject


# Keys of TOML, and the members that they stand for.
REQUEST_KEYS = {
    **{name: name for name in ("name", "url", "method", "weight", "timeout", *CHECKS)},
    **{name: name for name in ("stream", "idle_timeout", "grpc")},
    "headers": "header",
    "json": "json_body",
    "body": "text_body",
}
TOML = Spelling(
    names={member: key for key, member in REQUEST_KEYS.items()},
    of_object="table",
    url='write url = "/"',
    header='write headers = { x-user = "ann" }',
)
TABLES = ("url", "requests", "groups", "monitor")


@dataclass(frozen=True, slots=True)
class PlanFile:
    """The content of a plan file; `flags` are texts and numbers by the names of flags."""

    path: Path
    url: str | None
    requests: tuple[Entry, ...]
    groups: tuple[GroupEntry, ...]
    monitor: MonitorEntry = field(default_factory=MonitorEntry)
    flags: JsonObject = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    @property
    def is_of_chat(self) -> bool:
        """Whether its keys describe the requests of a chat, so that it has none of its own."""
        return not self.requests


def read_plan_file(path: Path) -> PlanFile:
    """Read a plan file; raise FileError, or UsageError where there is no file."""
    top = read_table(path)
    values, lines = top.values, top.lines
    reader = _Reader(top)
    return PlanFile(
        path=path,
        url=top.value("url", str),
        requests=tuple(reader.requests()),
        groups=tuple(reader.groups()),
        monitor=(monitor := read_monitor(top)),
        flags={
            **{key: value for key, value in values.items() if key not in TABLES},
            **({"requests": values["requests"]} if _is_number_of_requests(top) else {}),
            **({"monitor": list(monitor.at)} if monitor.at else {}),
        },
        # An error of the flag --monitor is at the line of `monitor.at`.
        lines={**lines, **({"monitor": lines["monitor.at"]} if "monitor.at" in lines else {})},
    )


def _is_number_of_requests(top: TomlTable) -> bool:
    """Return whether `requests` is the flag of a chat, and not tables."""
    return isinstance(top.values.get("requests"), int) and _is_of_chat(top)


def _is_of_chat(top: TomlTable) -> bool:
    return "chat" in top.values and "groups" not in top.values


@dataclass(frozen=True, slots=True)
class _Reader:
    top: TomlTable

    def requests(self) -> list[Entry]:
        entries = []
        tables = [] if _is_number_of_requests(self.top) else self.top.tables("requests")
        for table in tables:
            table.check_keys(tuple(REQUEST_KEYS))
            members = {REQUEST_KEYS[key]: value for key, value in table.values.items()}
            with table.errors_at():
                require(
                    "name" in members, say("a request has no name"), say('write name = "login"')
                )
                entries.append(entry_of(self.top.path, table.line, members, TOML))
        check_names_differ(tables, [entry.name for entry in entries], "requests")
        hint = say("write [[requests]] with name and url")
        if "candidates" in self.top.values:
            hint = say("this is a matrix file: use torr compare")
        with errors_at(self.top.path, 1):
            require(bool(entries) or _is_of_chat(self.top), say("there is no request"), hint)
        return entries

    def groups(self) -> list[GroupEntry]:
        tables = self.top.tables("groups")
        if not tables:
            return []
        names = [str(table.values.get("name")) for table in self.top.tables("requests")]
        entries = [group_of(table, names) for table in tables]
        check_names_differ(tables, [entry.name for entry in entries], "groups")
        return entries
