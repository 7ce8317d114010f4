"""Judge what an LLM server and its GPUs show about the times that clients saw.

Each cause needs evidence on both sides, and nothing is said where a number is missing. Levels that
claim nothing are left out; numbers of a level are the medians of its rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from torr.messages.message import Message, message, message_count, message_list
from torr.results.position import Position, position_of
from torr.results.serving import ServingCause, ServingUsage
from torr.stats.series import by_position, noun_of, place_of
from torr.units import show_ms, show_percent, show_rate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from torr.results.level import Level
    from torr.results.serving import ServingCauseName

GREW = 1.5
"""How many times the TTFT of the lowest level is a TTFT that rose."""
LEAST_WAITING = 0.5
"""The mean of waiting requests from which on requests queue."""
QUEUE_SHARE = 0.5
"""The part of a TTFT, or of its growth, that must be time in the queue."""
FULL = 95.0
"""Percent of the KV cache from which on it is full."""
NEARLY_FULL = 80.0
"""Percent of the KV cache from which on its use may be why requests wait."""
IDLE = 70.0
"""Percent of the time below which a GPU was not busy; one request at a time keeps a GPU busy."""
LEAST_SUCCESS = 99.0
"""Percent of the attempts: a server that refuses requests has no queue."""
FAR_ABOVE = 1.5
FAR_ABOVE_MS = 20.0
"""How far a client's TTFT is above the server's: as a factor, and in milliseconds."""
SAME_REQUESTS = 0.2
"""The part by which the numbers of first texts may differ, if both count the same requests."""


@dataclass(frozen=True, slots=True)
class ServingPoint:
    """One level: what clients saw, and what the server reported."""

    concurrency: int
    noun: str
    usage: ServingUsage
    ttft_ms: float | None = None
    first_texts: float | None = None
    success_rate: float | None = None
    ok_per_s: float = 0.0
    is_from_sent: bool = True
    is_shared: bool = False
    rate: float | None = None

    @property
    def position(self) -> Position:
        """The position among levels."""
        return position_of(self.concurrency, self.rate)

    @property
    def queue_ms(self) -> float | None:
        """The mean time in the queue: the server's, or else by Little's law."""
        waiting = self.usage.waiting_mean
        if self.usage.queue_ms is not None:
            return self.usage.queue_ms
        return None if waiting is None or not self.ok_per_s else 1000 * waiting / self.ok_per_s

    @property
    def place(self) -> Message:
        """The level in words."""
        return place_of(self.position, self.noun)


def serving_causes(levels: Sequence[Level]) -> list[ServingCause]:
    """Return the causes that the levels show; none if no LLM server or GPU was monitored."""
    return causes_of(points_of(levels))


def causes_of(points: Sequence[ServingPoint]) -> list[ServingCause]:
    """Return the causes that the points of ascending levels show."""
    judges = (_queueing, _cache_full, _not_saturated, _outside_the_server)
    return [cause for cause in (judge(points) for judge in judges if points) if cause]


def points_of(levels: Sequence[Level]) -> list[ServingPoint]:
    """Return a point of each level that claims something and was monitored."""
    noun = noun_of(levels)
    claiming = [x for x in levels if not (x.is_limited or x.cut_short or x.is_starved)]
    groups = by_position(level for level in claiming if serving_usage_of(level))
    return [_point(noun, rounds) for rounds in groups.values()]


def serving_usage_of(level: Level) -> ServingUsage | None:
    """Return the numbers of a level's window; None where no LLM server or GPU was monitored."""
    serving = level.monitor.serving if level.monitor else None
    return serving.derived if serving else None


def median_usage(usages: Sequence[ServingUsage]) -> ServingUsage:
    """Return the median of each number over rounds."""
    numbers = {
        name: _median(getattr(usage, name) for usage in usages)
        for name in ServingUsage.__struct_fields__
    }
    return ServingUsage(**numbers)


def _point(noun: str, rounds: Sequence[Level]) -> ServingPoint:
    streams = [level.stream for level in rounds if level.stream]
    times = [stream.ttft_ms for stream in streams if stream.ttft_ms]
    return ServingPoint(
        concurrency=rounds[0].concurrency,
        rate=rounds[0].offered_rate,
        noun=noun,
        usage=median_usage([usage for usage in map(serving_usage_of, rounds) if usage]),
        ttft_ms=_median(time.mean for time in times),
        first_texts=_median(time.n for time in times),
        success_rate=_median(level.success_rate for level in rounds),
        ok_per_s=median(level.ok_per_s for level in rounds),
        is_from_sent=all(stream.from_ == "sent" for stream in streams),
        is_shared=any(level.is_contended for level in rounds),
    )


def _queueing(points: Sequence[ServingPoint]) -> ServingCause | None:
    first = points[0]

    def rises(point: ServingPoint) -> bool:
        return _rises_by_queueing(point, first)

    onset = _onset(
        points, lambda point: _waits(point) and (rises(point) or _is_mostly_queue(point))
    )
    if onset is None:
        return None
    values = {"place": onset.place, "facts": _facts(onset)}
    if rises(onset):
        text = message(
            "serving.ttft_rises",
            "TTFT rises from {place} on because requests queue: {facts}",
            **values,
        )
    elif onset is points[-1]:
        text = message("serving.queueing_at", "Requests queue at {place}: {facts}", **values)
    else:
        text = message("serving.queueing", "Requests queue from {place} on: {facts}", **values)
    return _cause("queueing", onset, text)


def _facts(point: ServingPoint) -> Message:
    usage = point.usage
    facts = [message("serving.waiting", "{n} waiting", n=show_rate(usage.waiting_mean))]
    if (usage.kv_cache_max_rate or 0.0) >= NEARLY_FULL:
        share = show_percent(round(usage.kv_cache_max_rate or 0.0))
        facts.append(message("serving.kv_cache", "KV cache {share}", share=share))
    if usage.queue_ms is not None:
        times = {"time": show_ms(usage.queue_ms), "ttft": show_ms(point.ttft_ms)}
        facts.append(message("serving.in_queue", "{time} of {ttft} in the queue", **times))
    return message_list(", ", facts)


def _waits(point: ServingPoint) -> bool:
    return (point.usage.waiting_mean or 0.0) >= LEAST_WAITING


def _rises_by_queueing(point: ServingPoint, first: ServingPoint) -> bool:
    """Return whether TTFT rose above that of the lowest level, mostly by time in the queue."""
    if point is first or point.ttft_ms is None or first.ttft_ms is None:
        return False
    queue, queue_before = point.queue_ms, first.queue_ms
    if queue is None or queue_before is None or point.ttft_ms < GREW * first.ttft_ms:
        return False
    return queue - queue_before >= QUEUE_SHARE * (point.ttft_ms - first.ttft_ms)


def _is_mostly_queue(point: ServingPoint) -> bool:
    queue = point.usage.queue_ms
    return queue is not None and point.ttft_ms is not None and queue >= QUEUE_SHARE * point.ttft_ms


def _cache_full(points: Sequence[ServingPoint]) -> ServingCause | None:
    full = (
        point
        for point in points
        if (point.usage.kv_cache_max_rate or 0.0) >= FULL and (point.usage.preemptions or 0.0) >= 1
    )
    point = next(full, None)
    if point is None:
        return None
    text = message_count(
        "serving.cache_full",
        round(point.usage.preemptions or 0.0),
        "The KV cache is full at {place} ({share}): the server preempted {n:,} request, and had to"
        " continue it later",
        "The KV cache is full at {place} ({share}): the server preempted {n:,} requests, and had to"
        " continue them later",
        place=point.place,
        share=show_percent(round(point.usage.kv_cache_max_rate or 0.0)),
    )
    return _cause("cache_full", point, text)


def _not_saturated(points: Sequence[ServingPoint]) -> ServingCause | None:
    point = points[-1]
    gpu = point.usage.busiest_gpu_mean_rate
    is_idle = gpu is not None and gpu < IDLE and point.usage.waiting_max == 0
    if not is_idle or (point.success_rate or 0.0) < LEAST_SUCCESS:
        return None
    text = message(
        "serving.not_saturated",
        "The server is not saturated at {place}: the busiest GPU was in use {share} of the time,"
        " and no request waited",
        place=point.place,
        share=show_percent(round(gpu or 0.0)),
    )
    return _cause("not_saturated", point, text)


def _outside_the_server(points: Sequence[ServingPoint]) -> ServingCause | None:
    point = _onset(points, _is_far_above)
    if point is None:
        return None
    values = {
        "place": point.place,
        "client": show_ms(point.ttft_ms),
        "server": show_ms(point.usage.ttft_ms),
    }
    text = message(
        "serving.outside",
        "At {place} clients wait {client} for the first text, of which the server counts {server}:"
        " the rest passes in the network, in a proxy, in the server's HTTP interface or in torr",
        **values,
    )
    if point.is_shared:
        text = message(
            "serving.outside_shared",
            "At {place} clients wait {client} for the first text, of which the server counts"
            " {server}: torr and the server compete for this machine",
            **values,
        )
    return _cause("outside_the_server", point, text)


def _is_far_above(point: ServingPoint) -> bool:
    client, server = point.ttft_ms, point.usage.ttft_ms
    counted, seen = point.usage.first_tokens, point.first_texts
    if client is None or server is None or not point.is_from_sent:
        return False
    if not counted or not seen or abs(counted - seen) > SAME_REQUESTS * seen:
        return False
    return client >= FAR_ABOVE * server and client - server >= FAR_ABOVE_MS


def _onset(
    points: Sequence[ServingPoint], holds: Callable[[ServingPoint], bool]
) -> ServingPoint | None:
    """Return the lowest level from which on a condition holds at all levels; None without one."""
    onset = None
    for point in reversed(points):
        if not holds(point):
            break
        onset = point
    return onset


def _cause(cause: ServingCauseName, point: ServingPoint, text: Message) -> ServingCause:
    return ServingCause(cause=cause, concurrency=point.concurrency, rate=point.rate, text=text)


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
