"""User groups from requests and a pace: one group for each endpoint.

A user sends to one endpoint over its connection. Users, rate and connections are divided over the
endpoints in proportion to the weights of their requests.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.model.pace import has_stages
from torr.model.plan import Group
from torr.model.source import Source

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from torr.model.feed import RowFeed
    from torr.model.pace import Pace
    from torr.model.plan import Stop
    from torr.model.rows import Rows
    from torr.options.measure import MeasureOptions
    from torr.planning.request_mix import RequestMix


@dataclass(frozen=True, slots=True)
class PlannedLoad:
    """Groups, their stop, and the time before the measurement window.

    `notes` say which requests of a file are not sent.
    """

    groups: tuple[Group, ...]
    stop: Stop
    warmup_ns: int
    notes: tuple[str, ...] = ()


def groups_of(mix: RequestMix, pace: Pace, options: MeasureOptions) -> tuple[Group, ...]:
    """Return one group for each endpoint; raise UsageError for options that exclude each other."""
    file, think = options.request.data, options.load.think
    sources = _sources(mix)
    shares = [sum(source.weights) or len(source.requests) for source in sources]
    paces: Sequence[Pace] = pace.parts(shares)
    columns = frozenset(mix.rows.columns) if mix.rows else _columns(file)
    for source in sources:
        source.check_names(columns)
    data: str | Rows | RowFeed | None = mix.rows
    if file is not None:
        data = str(Path(file).absolute())
    require(
        data is None or any(source.uses_rows for source in sources),
        say("--data: no request uses its rows"),
        say("write {{{{row.NAME}}}} into the URL, a header or the body"),
    )
    return tuple(
        Group(
            pace=part,
            source=source,
            name="default" if len(sources) == 1 else source.requests[0].parsed_url.address,
            think=think,
            cancel=options.load.cancel,
            data=data if source.uses_rows else None,
            share=share,
            first=first,
            stride=stride,
        )
        for source, part, share, (first, stride) in zip(
            sources, paces, shares, _first_and_stride(sources, paces), strict=True
        )
    )


def _first_and_stride(sources: Sequence[Source], paces: Sequence[Pace]) -> list[tuple[int, int]]:
    """Return `first` and `stride` of each group, with which no two groups draw the same row.

    Groups that draw nothing take no part, since otherwise numbers and rows would be missing.
    """
    # A group's first number is also that of its first user, which decides when a stage starts it.
    if any(map(has_stages, paces)):
        return [(0, 1)] * len(sources)
    drawn = [source.drawn for source in sources]
    # One draw gives both a row and a number, so that a group with both needs a common order.
    is_one = any(len(kinds) > 1 for kinds in drawn)
    numbers = []
    for i, kinds in enumerate(drawn):
        drawing = [j for j, other in enumerate(drawn) if (other if is_one else other & kinds)]
        numbers.append((drawing.index(i), len(drawing)) if i in drawing else (0, 1))
    return numbers


def _sources(mix: RequestMix) -> list[Source]:
    in_steps = mix.in_steps
    weights = mix.weights or (1,) * len(mix.requests)
    by_endpoint: dict[Any, list[int]] = {}
    for number, request in enumerate(mix.requests):
        by_endpoint.setdefault(request.endpoint, []).append(number)
    if in_steps and len(by_endpoint) > 1:
        addresses = [
            mix.requests[numbers[0]].parsed_url.address for numbers in by_endpoint.values()
        ]
        raise UsageError(
            say("--steps: the requests go to {addresses}", addresses=" and ".join(addresses[:3])),
            say(
                "a user keeps one connection: steps go to one scheme, host and port; with ws:// to"
                " one path"
            ),
        )
    return [
        Source(
            requests=tuple(mix.requests[number] for number in numbers),
            order="steps" if in_steps else "turn",
            weights=tuple(weights[number] for number in numbers) if mix.weights else (),
        )
        for numbers in by_endpoint.values()
    ]


def _columns(path: str | None) -> AbstractSet[str] | None:
    if path is None:
        return None
    from torr.sources.rows import columns_of

    return columns_of(Path(path))
