"""docs/reference/tune.schema.json: the JSON Schema of tune files, from flags and tables."""

from __future__ import annotations

import json
from typing import Any

from reference.matrix_schema import CANDIDATE, monitor
from reference.plan_schema import of_flag, table
from torr.planning.matrix import KEYS
from torr.sources.candidate_entry import CANDIDATE_KEYS
from torr.sources.settings_table import PARAMETER_KEYS
from torr.sources.tune_file import TUNE_KEYS

Json = dict[str, Any]

_TEXT: Json = {"type": "string"}
_TEXTS: Json = {"type": "array", "items": _TEXT, "minItems": 1}
_SCALAR: Json = {"type": ["string", "number", "boolean"]}
_VALUES: Json = {"type": "array", "items": _SCALAR, "minItems": 1, "uniqueItems": True}
_COUNT: Json = {"type": "integer", "minimum": 1}

PARAMETER: dict[str, Json] = {
    "values": {**_VALUES, "description": "the values that are tried"},
    "when": {
        "type": "object",
        "additionalProperties": {"oneOf": [_SCALAR, _VALUES]},
        "description": "the values that other parameters, written before, must have",
    },
    "otherwise": {**_SCALAR, "description": "the value where the condition does not hold"},
    "argument": {**_TEXTS, "description": "words that are added to the command"},
    "env": {**_TEXT, "description": "the variable that has the value"},
}


def text() -> str:
    """The schema as the page has it."""
    flags = {key: of_flag(option) for key, option in sorted(KEYS.items())}
    own = {key: CANDIDATE[key] for key in CANDIDATE_KEYS}
    parameter = table(PARAMETER, PARAMETER_KEYS, ["values"])
    file: dict[str, Json] = {
        "settings": {
            "type": "object",
            "additionalProperties": {"oneOf": [_VALUES, parameter]},
            "minProperties": 1,
            "description": "the values of each parameter",
        },
        "default": {
            "type": "object",
            "additionalProperties": _SCALAR,
            "description": "the setting that the server has now",
        },
        "budget": {
            "oneOf": [_COUNT, _TEXT],
            "description": "at most so many trials, or a time such as 2h",
        },
        "noise": {
            "oneOf": [{"type": "number", "exclusiveMinimum": 0}, _TEXT],
            "description": "the standard deviation of the trials of one setting [4%]",
        },
        "templates": {
            "type": "object",
            "additionalProperties": _TEXT,
            "description": "files that are filled; {name} is the path of the filled file",
        },
        "before": {
            "type": "array",
            "items": _TEXTS,
            "description": "commands that run before a server starts",
        },
        "pause": {**_TEXT, "description": "between two trials [none]"},
        "primary": {**_TEXT, "description": "ok/s, p50, p99, CPU a request or RSS"},
        "warmup_requests": {**_COUNT, "description": "so many requests before each window"},
        "monitor": {"oneOf": [{"type": "array", "items": _TEXT}, _TEXT, monitor()]},
        "note": {**_TEXT, "description": "what is said of the run"},
        "tag": {"oneOf": [_TEXT, {"type": "array", "items": _TEXT}]},
        "no_store": {"type": "boolean", "description": "the run is not registered"},
    }
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "a tune file of torr",
        "type": "object",
        "properties": {**flags, **own, **{key: file[key] for key in TUNE_KEYS}},
        "required": ["command", "url", "settings", "default"],
        "additionalProperties": False,
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
