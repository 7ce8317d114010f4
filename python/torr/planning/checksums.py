"""Checksums of what a candidate is made from, beyond its command: prompts, data files, templates.

A continued comparison or tuning must have what it began with, or its trials measure two things.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from torr.model.feed import RowFeed
from torr.model.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torr.model.plan import Plan
    from torr.servers.preparation import Preparation

_DIGITS = 16


def checksums(plan: Plan, preparation: Preparation) -> dict[str, str]:
    """Return the checksum of each content by its name."""
    found = (*_of_data(plan), *_of_preparation(preparation))
    return {name: _checksum(pieces) for name, pieces in found}


def _checksum(pieces: Iterable[bytes]) -> str:
    whole = hashlib.sha256()
    for piece in pieces:
        whole.update(piece)
    return whole.hexdigest()[:_DIGITS]


def _of_data(plan: Plan) -> Iterator[tuple[str, Iterable[bytes]]]:
    for group in plan.groups:
        name = f"data of {group.name}"
        if isinstance(group.data, Rows):
            yield name, [json.dumps([group.data.columns, group.data.rows]).encode()]
        elif isinstance(group.data, RowFeed):
            yield name, group.data.origin()
        elif isinstance(group.data, str):
            yield name, [Path(group.data).read_bytes()]


def _of_preparation(preparation: Preparation) -> Iterator[tuple[str, Iterable[bytes]]]:
    for template in preparation.templates:
        yield f"template {template.name}", [template.text.encode()]
    if preparation.before:
        yield "before", [json.dumps(preparation.before).encode()]
