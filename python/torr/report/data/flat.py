"""Parts of a result as flat rows: every number under its whole name in result.json."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from torr.results.base import ResultPart, parts_of

if TYPE_CHECKING:
    Row = ResultPart | Mapping[str, Any]


# Whole names: a factor or a parameter may have any of these words as its name.
_LEFT_OUT = {"intervals", "histograms", "samples", "requests"}
_NODES = {"nodes", "generator.nodes"}


def flat(part: Row, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Return every number of a level under its whole name; lists as words."""
    for key, value in members(part):
        name = f"{prefix}{key}"
        if name in _LEFT_OUT:
            continue
        if name == "monitor":
            # Its numbers of the level; over time they are result.json's.
            yield from flat({"derived": (value and value.derived) or {}}, "monitor.")
            serving = value and value.serving
            yield from flat((serving and serving.derived) or {}, "monitor.serving.")
        elif isinstance(value, dict | ResultPart):
            yield from flat(value, f"{name}.")
        elif name in _NODES:
            for node in value:
                yield from flat(_without_name(node), f"{name}.{node.name}.")
        elif isinstance(value, list | tuple):
            yield name, " ".join(str(item) for item in value)
        else:
            yield name, value


def _without_name(part: ResultPart) -> Row:
    return {key: value for key, value in members(part) if key != "name"}


def members(part: Row) -> Iterable[tuple[str, Any]]:
    """Return the keys of a part in result.json with their values."""
    if isinstance(part, Mapping):
        return part.items()
    return [
        (key, value)
        for field, key in zip(part.__struct_fields__, part.__struct_encode_fields__, strict=True)
        if not _is_absent(part, field, value := getattr(part, field))
    ]


def _is_absent(part: ResultPart, field: str, value: object) -> bool:
    """Return whether a level lacks this part or mark: no column is made of it."""
    if value is None:
        return field in parts_of(type(part))
    return value is msgspec.UNSET or (field == "at_least" and not value)
