"""From requests and a pace to groups: requests of one endpoint share their users' connections.

Each user keeps to one endpoint and its connection; users, rate and connections are dealt over the
endpoints in proportion to the weights of their requests.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torr.errors import UsageError, require
from torr.model.plan import Group
from torr.model.source import Source
from torr.planning.pace import has_stages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from torr.model.pace import Pace
    from torr.model.plan import Count, Duration
    from torr.model.rows import Rows
    from torr.options.measure import MeasureOptions
    from torr.planning.request_mix import RequestMix


@dataclass(frozen=True, slots=True)
class PlannedLoad:
    """Groups, until when they send, and how long before the measured window.

    `notes` say what of a file is not sent.
    """

    groups: tuple[Group, ...]
    stop: Duration | Count
    warmup_ns: int
    notes: tuple[str, ...] = ()


def groups_of(asked: RequestMix, pace: Pace, options: MeasureOptions) -> tuple[Group, ...]:
    """One group an endpoint; raises UsageError for what they cannot do together."""
    file, think = options.request.data, options.load.think
    sources = _sources(asked)
    shares = [sum(source.weights) or len(source.requests) for source in sources]
    paces: Sequence[Pace] = pace.parts(shares)
    columns = frozenset(asked.rows.columns) if asked.rows else _columns(file)
    for source in sources:
        source.check_names(columns)
    data: str | Rows | None = asked.rows
    if file is not None:
        data = str(Path(file).absolute())
    require(
        data is None or any(source.uses_rows for source in sources),
        "--data: no request uses its rows",
        "write {{row.NAME}} into the URL, a header or the body",
    )
    return tuple(
        Group(
            pace=part,
            source=source,
            name="default" if len(sources) == 1 else source.requests[0].parsed_url.address,
            think=think,
            data=data if source.uses_rows else None,
            share=share,
            first=first,
            stride=stride,
        )
        for source, part, share, (first, stride) in zip(
            sources, paces, shares, _numbers(sources, paces), strict=True
        )
    )


def _numbers(sources: Sequence[Source], paces: Sequence[Pace]) -> list[tuple[int, int]]:
    """Where each group begins to draw and how far it steps, so that none draws what another did.

    Groups that draw nothing take no part: else numbers and rows would be missing.
    """
    # A group's first number is also that of its first user, by which stages start them.
    if any(map(has_stages, paces)):
        return [(0, 1)] * len(sources)
    drawn = [source.drawn for source in sources]
    # One draw gives both, so a group that uses both keeps all of them in step.
    is_one = any(len(kinds) > 1 for kinds in drawn)
    found = []
    for i, kinds in enumerate(drawn):
        mates = [j for j, other in enumerate(drawn) if (other if is_one else other & kinds)]
        found.append((mates.index(i), len(mates)) if i in mates else (0, 1))
    return found


def _sources(asked: RequestMix) -> list[Source]:
    steps = asked.goes_on
    weights = asked.weights or (1,) * len(asked.requests)
    by_endpoint: dict[Any, list[int]] = {}
    for number, request in enumerate(asked.requests):
        by_endpoint.setdefault(request.parsed_url.endpoint, []).append(number)
    if steps and len(by_endpoint) > 1:
        places = [asked.requests[numbers[0]].parsed_url.address for numbers in by_endpoint.values()]
        raise UsageError(
            f"--steps: the requests go to {' and '.join(places[:3])}",
            "a user keeps one connection: steps go to one scheme, host and port",
        )
    return [
        Source(
            requests=tuple(asked.requests[number] for number in numbers),
            order="steps" if steps else "turn",
            weights=tuple(weights[number] for number in numbers) if asked.weights else (),
        )
        for numbers in by_endpoint.values()
    ]


def _columns(path: str | None) -> AbstractSet[str] | None:
    if path is None:
        return None
    from torr.sources.rows import columns_of

    return columns_of(Path(path))
