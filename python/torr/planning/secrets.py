"""What a run must not write: secrets that are sent, and those of the URLs that are watched."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from torr.model.secret_names import is_secret
from torr.model.secrets import LEAST_SECRET, known_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torr.model.plan import Plan
    from torr.model.request import Request
    from torr.model.url import Url
    from torr.options.result import ResultOptions

_OF_ROW = re.compile(r"\brow\.([^\"{}|]+)")

MOST_ROWS = 10_000
"""Rows of a data file whose secrets are known: each is held in memory and looked for."""


def secrets_of(plan: Plan, options: ResultOptions) -> list[str]:
    """Return the secrets of a plan, and of the URLs of --monitor and --profile."""
    watched: list[Url] = [each for each in options.monitor if not isinstance(each, int)]
    texts = [url.at(url.target) for url in watched]
    profiled = options.profile
    if profiled is not None and profiled.url is not None:
        texts.append(profiled.url)
    return [*secrets_of_plan(plan), *known_secrets(texts)]


def secrets_of_plan(plan: Plan) -> list[str]:
    """Return what a plan sends that nobody else may read, with the values of rows that fill it."""
    found = list(plan.secrets)
    columns = _columns(plan.requests, found)
    files = {group.data for group in plan.groups if isinstance(group.data, str)}
    return [*found, *dict.fromkeys(_values(sorted(files), columns))]


def _columns(requests: Iterable[Request], secrets: Iterable[str]) -> set[str]:
    """The columns whose names say that they are secret, or that fill what is."""
    used = {each.name for one in requests for each in one.expressions() if each.kind == "row"}
    filled = {name.strip() for text in secrets for name in _OF_ROW.findall(text)}
    return {name for name in used if is_secret(name) or name in filled}


def _values(files: Iterable[str], columns: set[str]) -> Iterator[str]:
    """The values as they are, and as they stand in a query and in a text of JSON."""
    from torr.sources.rows import values_of

    for file in files:
        for value in values_of(Path(file), columns, MOST_ROWS) if columns else ():
            if len(value) >= LEAST_SECRET:
                yield from (
                    value,
                    quote(value, safe=""),
                    json.dumps(value, ensure_ascii=False)[1:-1],
                )
