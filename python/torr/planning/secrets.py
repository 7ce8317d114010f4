"""Secrets that a run must not write: those that it sends, and those of monitored URLs.

Values that tell trials apart are written, so none of them may be a secret.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from torr.errors import require
from torr.messages.say import say
from torr.model.secret_names import is_secret, is_secret_value
from torr.model.secrets import LEAST_SECRET, known_secrets, redacted_command, redacted_text
from torr.model.url import Url

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torr.model.plan import Plan
    from torr.model.request import Request
    from torr.options.result import ResultOptions

_OF_ROW = re.compile(r"\brow\.([^\"{}|]+)")

MOST_ROWS = 10_000
"""The rows of a data file whose secrets are covered; each is held in memory and searched for."""


def secrets_of(plan: Plan, options: ResultOptions) -> list[str]:
    """Return the secrets of a plan, and of the URLs of --monitor and --profile."""
    sources = (source for source in options.monitor if not isinstance(source, int))
    urls = (source if isinstance(source, Url) else source.url for source in sources)
    texts = [url.at(url.target) for url in urls if url is not None]
    profiled = options.profile
    if profiled is not None and profiled.url is not None:
        texts.append(profiled.url)
    return [*secrets_of_plan(plan), *known_secrets(texts)]


def secrets_of_plan(plan: Plan) -> list[str]:
    """Return the secrets that a plan sends, with those of the rows that fill its templates."""
    secrets = list(plan.secrets)
    columns = _columns(plan.requests, secrets)
    files = {group.data for group in plan.groups if isinstance(group.data, str)}
    return [*secrets, *dict.fromkeys(_values(sorted(files), columns))]


def check_public(name: str, values: Iterable[object], variable: str | None = None) -> None:
    """Refuse texts of a factor or parameter that results would cover: trials would become alike.

    `variable` is the environment variable that has the values.
    """
    texts = [value for value in values if isinstance(value, str)]
    for name_of_values in (name, variable or ""):
        require(
            not any(is_secret_value(name_of_values, text) for text in texts),
            say(
                "{name!r} is the name of a secret, and results contain all values",
                name=name_of_values,
            ),
            say("choose another name if its values are not secret"),
        )
    flag = f"--{name.replace('_', '-')}"
    for text in texts:
        require(
            redacted_text(text) == text and redacted_command((flag, text)) == [flag, text],
            say("a value of {name!r} is a secret, and results contain all values", name=name),
            say("leave the secret out of the value"),
        )


def _columns(requests: Iterable[Request], secrets: Iterable[str]) -> set[str]:
    """Return the columns whose names are those of secrets, or that fill a secret."""
    used = {
        expression.name
        for request in requests
        for expression in request.expressions()
        if expression.kind == "row"
    }
    filled = {name.strip() for text in secrets for name in _OF_ROW.findall(text)}
    return {name for name in used if is_secret(name) or name in filled}


def _values(files: Iterable[str], columns: set[str]) -> Iterator[str]:
    """Yield the values, each also as in a query and as in a JSON string."""
    from torr.sources.rows import values_of

    for file in files:
        for value in values_of(Path(file), columns, MOST_ROWS) if columns else ():
            if len(value) >= LEAST_SECRET:
                yield from (
                    value,
                    quote(value, safe=""),
                    json.dumps(value, ensure_ascii=False)[1:-1],
                )
