"""docs/reference/plan.schema.json: the JSON Schema of plan files, from the flags and the tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from torr.model.stream import DIALECTS
from torr.monitor.query_sets import SETS
from torr.options.definition import OptionScope
from torr.options.verbs import LADDER, RUN
from torr.sources.group_entry import GROUP_KEYS
from torr.sources.monitor_entry import MONITOR_KEYS
from torr.sources.plan_file import REQUEST_KEYS

if TYPE_CHECKING:
    from torr.options.definition import Option

Json = dict[str, Any]

_TEXT: Json = {"type": "string"}
_TEXTS: Json = {"oneOf": [_TEXT, {"type": "array", "items": _TEXT}]}
_COUNT: Json = {"type": "integer", "minimum": 1}
_ADDRESS: Json = {"anyOf": [{"required": ["url"]}, {"required": ["grpc"]}]}
_RATE: Json = {"type": ["string", "number"]}

REQUEST: dict[str, Json] = {
    "name": {**_TEXT, "description": "its row in every table"},
    "url": {**_TEXT, "description": "a path at the file's url, or a whole URL"},
    "method": {**_TEXT, "description": "GET; POST with a body"},
    "headers": {"type": "object", "description": "texts, or lists of them, by name"},
    "json": {"description": "the body, as JSON"},
    "body": {**_TEXT, "description": "the body as it is"},
    "grpc": {**_TEXT, "description": "the method that it calls: package.Service/Method"},
    "stream": {"enum": list(DIALECTS), "description": "the dialect of its response's events"},
    "idle_timeout": {**_TEXT, "description": "how long the stream may stand still"},
    "timeout": {**_TEXT, "description": "later than that is an error"},
    "weight": {**_COUNT, "description": "how often, compared with the others"},
    "expect_status": {**_TEXT, "description": "what counts as ok, such as 2xx,404"},
    "expect_body": {**_TEXTS, "description": "what the body must contain, or /match/"},
    "expect_json": {**_TEXTS, "description": "what it must say, such as $.status=ok"},
    "capture": {**_TEXTS, "description": "keep for {{NAME}}: NAME=json:$.id"},
}

GROUP: dict[str, Json] = {
    "name": {**_TEXT, "description": "in messages"},
    "requests": {"type": "array", "items": _TEXT, "description": "names, in order"},
    "weights": {"type": "array", "items": _COUNT, "description": "how often each [in turn]"},
    "steps": {"type": "boolean", "description": "each user sends them in order, then anew"},
    "users": {**_COUNT, "description": "how many; the share of a ladder's levels"},
    "weight": {**_COUNT, "description": "its share of all users, instead of a number"},
    "spawn_rate": {
        **_RATE,
        "description": "so many of its users begin a second, before the window",
    },
    "stages": {**_TEXT, "description": "users, or its rate, by time: 30s:100,2m:1k,30s:0"},
    "rate": {**_RATE, "description": "arrivals a second instead of users, whatever comes back"},
    "arrivals": {"enum": ["constant", "poisson"], "description": "how they come [constant]"},
    "connections": {**_COUNT, "description": "over which arrivals go at most [100]"},
    "max_in_flight": {**_COUNT, "description": "drop arrivals that are due beyond N open [5M]"},
    "think": {**_TEXT, "description": "after each response: 1s, 1s-3s, exp:2s"},
    "data": {**_TEXT, "description": "rows for {{row.NAME}}, beside the file"},
}


MONITOR: dict[str, Json] = {
    "at": {**_TEXTS, "description": "what to watch, as --monitor"},
    "names": {"type": "array", "items": _TEXT, "description": "of a /metrics, by patterns"},
    "sets": {"type": "array", "items": {"enum": list(SETS)}, "description": "of queries [all]"},
    "queries": {
        "type": "object",
        "additionalProperties": _TEXT,
        "description": "PromQL by name, for a Prometheus server",
    },
}


def text() -> str:
    """The schema as the page has it."""
    scopes = (OptionScope.KEYWORD, OptionScope.PLAN)
    flags = {
        key: x for scope in scopes for verb in (LADDER, RUN) for key, x in verb.keys(scope).items()
    }
    requests = {"type": "array", "items": table(REQUEST, REQUEST_KEYS, ["name"]) | _ADDRESS}
    tables = {
        "url": {**_TEXT, "description": "where paths of requests lead"},
        "requests": {"oneOf": [requests, of_flag(flags["requests"])]},
        "groups": {"type": "array", "items": table(GROUP, GROUP_KEYS, ["requests"])},
    }
    flag = of_flag(flags["monitor"])
    tables["monitor"] = {"oneOf": [flag, table(MONITOR, MONITOR_KEYS, [])]}
    properties = {**{key: of_flag(flag) for key, flag in sorted(flags.items())}, **tables}
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "a plan file of torr",
        "type": "object",
        "properties": properties,
        "anyOf": [{"required": ["requests"]}, {"required": ["chat"]}],
        "additionalProperties": False,
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def table(said: dict[str, Json], known: Any, required: list[str]) -> Json:  # noqa: ANN401
    """Return an object of these keys; a key that nothing is said of fails the generation."""
    properties = {key: said[key] for key in known}
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def of_flag(flag: Option) -> Json:
    """Return what a key that is an option may be."""
    if flag.is_switch:
        return {"type": "boolean", "description": flag.help}
    one: Json = {"type": ["string", "number"]}
    if flag.reader.choices:
        one = {"enum": list(flag.reader.choices)}
    kind = {"oneOf": [one, {"type": "array", "items": one}]} if flag.is_repeatable else one
    example = flag.reader.example if not flag.reader.choices else ""
    return {**kind, "description": flag.help, **({"examples": [example]} if example else {})}
