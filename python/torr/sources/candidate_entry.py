"""A candidate of a file: the command of its server, its expected answer, the flags of its load.

A key of a candidate may also be at the top of the file, as the default of all candidates. Errors
name the file and the line.
"""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.servers.command import GRACE_S, HEALTH_S, Command, stop_signal
from torr.servers.expectation import SWITCHED, Expectation
from torr.store.rundir import check_name
from torr.units import SECOND_NS, parse_duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torr.model.json import JsonObject
    from torr.sources.toml_table import TomlTable

CANDIDATE_KEYS = (
    *("name", "command", "env", "cwd", "url", "health", "health_timeout", "expect"),
    *("stop_signal", "grace", "request"),
)
# Keys of a request, and the flags of `torr run` that mean the same.
REQUEST_KEYS = {"method": "method", "headers": "header", "body": "body", "json": "json_body"}
EXPECT_KEYS = ("status", "body", "content_type")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate of a comparison: its command, its expected answer, the flags of its load."""

    name: str
    command: Command
    expected: Expectation
    flags: JsonObject
    line: int

    def example_url(self, factors: Mapping[str, object]) -> str:
        """Return its URL in a cell, on a port that stands for any."""
        values = {"port": 1, "scratch": "/", "processes": 1, **factors}
        return self.command.filled(values).url

    def any_url(self, factors: Mapping[str, object]) -> str:
        """Return a URL of the same scheme, for a plan that no server is to carry out."""
        scheme, _, _ = self.example_url(factors).partition("://")
        return f"{scheme}://localhost/"


@dataclass(frozen=True, slots=True)
class CandidateReader:
    """Reads candidates; `file_keys` are the keys of `top` that are not defaults of candidates."""

    top: TomlTable
    file_keys: tuple[str, ...]

    def candidate(self, entry: TomlTable) -> Candidate:
        """Return a candidate: its own keys, then those of the top; both `env` are merged.

        Raise FileError.
        """
        own_values = entry.values
        shared = {key: value for key, value in self.top.values.items() if key not in self.file_keys}
        values = {**shared, **own_values}
        if isinstance(shared.get("env"), dict) and isinstance(own_values.get("env"), dict):
            values["env"] = {**shared["env"], **own_values["env"]}
        table = replace(entry, values=values, from_top=shared.keys() - own_values)
        name = table.value("name", str)
        with table.errors_at("name"):
            if not name:
                raise UsageError(say("a candidate has no name"), say('write name = "one"'))
            check_name(name, "name")
        flags = {key: x for key, x in table.values.items() if key not in CANDIDATE_KEYS}
        with table.errors_at():
            return Candidate(
                name=name,
                command=self._command(name, table),
                expected=self._expected(table),
                flags={**self._request(table), **flags},
                line=table.line,
            )

    def _command(self, name: str, table: TomlTable) -> Command:
        url = table.value("url", str)
        with table.errors_at("url"):
            if url is None:
                raise UsageError(
                    say("{name} has no url", name=name),
                    say('write url = "http://127.0.0.1:{{port}}/"'),
                )
        with table.errors_at("command"):
            return Command(
                argv=tuple(
                    table.texts("command", say('command = ["server", "--port", "{{port}}"]'))
                ),
                url=url,
                name=name,
                env=tuple(self._environment(table).items()),
                cwd=(self.top.path.parent / (table.value("cwd", str) or "")).absolute(),
                stop_signal=table.read("stop_signal", stop_signal) or signal.SIGTERM,
                grace_s=table.read("grace", _seconds) or GRACE_S,
                health=table.value("health", str) or self._default_health(table),
                health_timeout_s=table.read("health_timeout", _seconds) or HEALTH_S,
            )

    def _default_health(self, table: TomlTable) -> str:
        """Return the health path; none for gRPC and WebSocket, whose servers may have no paths.

        Servers of language models answer `/` with 404, and `/health` as soon as they have a model.
        """
        keys = {*self.top.values, *table.values}
        if "grpc" in keys or _is_websocket(table):
            return ""
        return "/health" if "chat" in keys else "/"

    def _request(self, table: TomlTable) -> JsonObject:
        """Return the flags that mean the same as the keys of a request."""
        part = table.table(
            "request", say('write request = {{ method = "POST", json = {{ n = 1 }} }}')
        )
        part.check_keys(tuple(REQUEST_KEYS))
        flags = {REQUEST_KEYS[key]: value for key, value in part.values.items()}
        if "json_body" in flags:
            flags["json_body"] = json.dumps(flags["json_body"])
        if "header" in flags:
            headers = part.table("headers", say('write headers = {{ x-user = "ann" }}')).values
            flags["header"] = [f"{name}: {value}" for name, value in headers.items()]
        return flags

    def _environment(self, table: TomlTable) -> dict[str, str]:
        variables = table.table("env", say('write env = {{ LOG = "off" }}')).values
        with table.errors_at("env"):
            for key, value in variables.items():
                fits = isinstance(value, str | int | float) and not isinstance(value, bool)
                require(fits, say("env: {key} is neither a text nor a number", key=key))
        return {key: str(value) for key, value in variables.items()}

    def _expected(self, table: TomlTable) -> Expectation:
        part = table.table("expect", say('write expect = {{ status = 200, body = "ok" }}'))
        part.check_keys(EXPECT_KEYS)
        body = part.value("body", str)
        return Expectation(
            status=part.count("status", 599) or (SWITCHED if _is_websocket(table) else 200),
            body=None if body is None else body.encode(),
            content_type=part.value("content_type", str),
        )


def _is_websocket(table: TomlTable) -> bool:
    """Return whether messages are sent to a candidate."""
    return str(table.values.get("url", "")).startswith(("ws:", "wss:"))


def _seconds(text: str) -> float:
    return parse_duration(text) / SECOND_NS
