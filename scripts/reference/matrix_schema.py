"""docs/reference/matrix.schema.json: the JSON Schema of matrix files, from flags and tables."""

from __future__ import annotations

import json
from typing import Any

from reference.plan_schema import MONITOR, of_flag, table
from torr.planning.matrix import KEYS, OF_RESULTS
from torr.sources.candidate_entry import CANDIDATE_KEYS, EXPECT_KEYS, REQUEST_KEYS
from torr.sources.matrix_file import MATRIX_KEYS, RESTARTS
from torr.sources.monitor_entry import MONITOR_KEYS

Json = dict[str, Any]

_TEXT: Json = {"type": "string"}
_COUNT: Json = {"type": "integer", "minimum": 1}
_SCALAR: Json = {"type": ["string", "number", "boolean"]}

REQUEST: dict[str, Json] = {
    "method": {**_TEXT, "description": "GET; POST with a body"},
    "headers": {"type": "object", "additionalProperties": _TEXT, "description": "texts by name"},
    "body": {**_TEXT, "description": "the body as it is"},
    "json": {"description": "the body, as JSON"},
}

EXPECT: dict[str, Json] = {
    "status": {"type": "integer", "minimum": 1, "maximum": 599, "description": "[200]"},
    "body": {**_TEXT, "description": "all of it"},
    "content_type": {**_TEXT, "description": "the type, whatever its parameters"},
}

CANDIDATE: dict[str, Json] = {
    "name": {**_TEXT, "description": "its row in every table"},
    "command": {
        "type": "array",
        "items": _TEXT,
        "minItems": 1,
        "description": "words, no shell; {port}, {scratch}, {processes} and factors are filled in",
    },
    "env": {
        "type": "object",
        "additionalProperties": {"type": ["string", "number"]},
        "description": "more of its environment; those of the top and its own add up",
    },
    "cwd": {**_TEXT, "description": "its folder, beside the file"},
    "url": {**_TEXT, "description": "where the load goes"},
    "health": {**_TEXT, "description": "the path that must answer before [/]"},
    "health_timeout": {**_TEXT, "description": "how long that may take [30s]"},
    "expect": {**table(EXPECT, EXPECT_KEYS, []), "description": "its response before the load"},
    "stop_signal": {**_TEXT, "description": "how it is stopped [SIGTERM]"},
    "grace": {**_TEXT, "description": "how long that may take [10s]"},
    "request": {**table(REQUEST, tuple(REQUEST_KEYS), []), "description": "what is sent [GET]"},
}


def text() -> str:
    """The schema as the page has it."""
    of_all = {key: of_flag(option) for key, option in sorted(KEYS.items())}
    of_one = {key: said for key, said in of_all.items() if key not in OF_RESULTS}
    own = {key: CANDIDATE[key] for key in CANDIDATE_KEYS}
    candidate = table({**of_one, **own}, (*of_one, *own), ["name"])
    file: dict[str, Json] = {
        "name": {**_TEXT, "description": "of the run"},
        "baseline": {**_TEXT, "description": "the candidate that the others are compared with"},
        "rounds": {**_COUNT, "description": "trials of each candidate in a cell [10]"},
        "restart": {"enum": list(RESTARTS), "description": "when servers start anew [trial]"},
        "pause": {**_TEXT, "description": "between two trials [none]"},
        "primary": {**_TEXT, "description": "ok/s, p50, p99, errors, CPU a request or RSS"},
        "discard_if": {**_TEXT, "description": "leaves out rounds in which it holds for a trial"},
        "warmup_requests": {**_COUNT, "description": "so many requests before each window"},
        "monitor": {"oneOf": [{"type": "array", "items": _TEXT}, _TEXT, monitor()]},
        "factors": {
            "type": "object",
            "additionalProperties": {"type": "array", "items": _SCALAR, "minItems": 1},
            "description": "a list a name: every combination is a cell",
        },
        "candidates": {"type": "array", "items": candidate, "minItems": 1},
        "note": {**_TEXT, "description": "what is said of the run"},
        "tag": {"oneOf": [_TEXT, {"type": "array", "items": _TEXT}]},
        "no_store": {"type": "boolean", "description": "the run is not registered"},
    }
    known = {key: file[key] for key in MATRIX_KEYS}
    top = {key: said for key, said in own.items() if key != "name"}
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "a matrix file of torr",
        "type": "object",
        "properties": {**of_all, **top, **known},
        "required": ["baseline", "candidates"],
        "additionalProperties": False,
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def monitor() -> Json:
    """The table `[monitor]`."""
    return table(MONITOR, MONITOR_KEYS, [])
