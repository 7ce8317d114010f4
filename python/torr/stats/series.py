"""The levels of a ladder by position: one point for each, the median of its rounds.

result.json has levels in the order of measuring. Levels that the generator limited, levels that
were cut short, and levels whose users starved claim nothing and are kept apart; contended ones
stay, marked `at_least`. A level without a successful request stays too. A .dat file gives the same
points with fewer numbers.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from statistics import mean, median, stdev
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from torr.messages.counts import levels_of
from torr.messages.message import Message, message, message_count
from torr.model.condition import STATS
from torr.results.level import times_of_streams
from torr.results.position import ARRIVAL, TRACE
from torr.results.series import LevelPoint

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torr.results.level import Interval, Level
    from torr.results.position import Position

RATES = {"tokens/s": "tokens_per_s", "goodput": "goodput_rate"}
"""Rates of streams: their names in conditions and in result.json."""
_WORST_FIRST = ("generator-limited", "contended", "healthy")


@dataclass(frozen=True)
class Series:
    """The points of one ladder, ascending, and those that claim nothing.

    `limited` has levels that the generator limited, `cut` those that were cut short, `starved`
    those whose numbers are of fewer users than they are named after.
    """

    name: str
    points: tuple[LevelPoint, ...]
    limited: tuple[LevelPoint, ...] = ()
    cut: tuple[LevelPoint, ...] = ()
    starved: tuple[LevelPoint, ...] = ()
    noun: str = "connection"
    """The unit of its levels: `user` where users share fewer connections, `arrival` for rates."""

    @classmethod
    def of(cls, name: str, levels: Iterable[Level]) -> Series:
        """Put the levels of a result in order.

        A level of several rounds is limited, cut short or starved only if all of them are; else its
        other rounds count.
        """
        levels = list(levels)
        points: list[LevelPoint] = []
        limited: list[LevelPoint] = []
        cut: list[LevelPoint] = []
        starved: list[LevelPoint] = []
        for rounds in by_position(levels).values():
            usable = [level for level in rounds if not level.is_limited]
            whole = [level for level in usable if not level.cut_short]
            answered = [level for level in whole if not level.is_of_fewer_users]
            kind = points if answered else starved if whole else cut if usable else limited
            kind.append(_point(answered or whole or usable or rounds))
        noun = noun_of(levels)
        return cls(name, tuple(points), tuple(limited), tuple(cut), tuple(starved), noun)

    @property
    def shown(self) -> tuple[LevelPoint, ...]:
        """All levels, ascending."""
        levels = (*self.points, *self.limited, *self.cut, *self.starved)
        return tuple(sorted(levels, key=lambda point: point.position))

    @property
    def best(self) -> LevelPoint | None:
        """The point with the highest ok/s; None where none claims anything."""
        return max(self.points, key=lambda point: point.ok_per_s, default=None)

    def places(self, *positions: Position) -> str:
        """Write levels with their noun: `1, 8 and 16 connections`."""
        return levels_of(positions, self.noun)

    def at(self, position: Position) -> LevelPoint | None:
        """Return the point at a position that claims something."""
        return next((p for p in self.points if p.position == position), None)


def noun_of(levels: Iterable[Level]) -> str:
    """Return the unit of levels: arrivals, where all of them are rates, users or connections.

    It is the trace where all of them are at the times of one. They are users where these share
    connections or make their own.
    """
    levels = list(levels)
    if levels and all(level.offered_rate is not None for level in levels):
        return ARRIVAL
    if levels and all(level.is_by_times for level in levels):
        return TRACE
    return "user" if any(x.is_shared or x.is_of_locust for x in levels) else "connection"


def noun_of_points(points: Iterable[LevelPoint]) -> str:
    """Return the unit of points as a diff has them, which do not tell users from connections."""
    points = list(points)
    are_rates = points and all(point.rate is not UNSET for point in points)
    return ARRIVAL if are_rates else "connection"


def place_of(position: Position, noun: str) -> Message:
    """Return a level with its noun: `16 connections`."""
    if noun == ARRIVAL:
        return message("count.arrivals", "{n:,} arrivals/s", n=position)
    if noun == TRACE:
        return message("count.trace", "the times of the trace")
    if noun == "user":
        return message_count("count.users", int(position), "{n:,} user", "{n:,} users")
    return message_count(
        "count.connections", int(position), "{n:,} connection", "{n:,} connections"
    )


def by_position(levels: Iterable[Level]) -> dict[Position, list[Level]]:
    """Group levels by their position, ascending.

    Levels that ended before their window are left out. A level without an attempt in its window
    stays: its users were waiting.
    """
    groups: dict[Position, list[Level]] = {}
    for level in levels:
        if level.counts.attempted or level.failure or not level.interrupted:
            groups.setdefault(level.position, []).append(level)
    return dict(sorted(groups.items()))


def lowest(levels: Iterable[Level]) -> list[Level]:
    """Return the rounds of the lowest position that claims anything: a run is judged by them."""
    claiming = [level for level in levels if not level.is_limited and not level.is_starved]
    return next(iter(by_position(claiming).values()), [])


def worst_health(levels: Iterable[Level]) -> str | None:
    """Return the worst word of the generator's health; None without levels."""
    words = {level.health.verdict for level in levels}
    return next((word for word in _WORST_FIRST if word in words), None)


def fewer_users_text(level: Level) -> Message:
    """Return why a level is one of fewer users than it is named after, as a clause."""
    if level.trace and not level.is_starved:
        return message_count(
            "level.few_sessions",
            level.trace.sessions,
            "there was {n:,} session of the trace for {users:,} users",
            "there were {n:,} sessions of the trace for {users:,} users",
            users=level.user_count,
        )
    return starved_text(level)


def starved_text(level: Level) -> Message:
    """Return how many users starved, as a clause."""
    return message(
        "level.starved",
        "{starved:,} of {users:,} users got no response in the window",
        starved=level.starved,
        users=level.user_count,
    )


def behind_text(level: Level) -> Message:
    """Return why a level does not show what its target keeps up with, as a clause."""
    connections = level.connections
    if connections and 0 < connections.requested <= connections.open_max:
        return message(
            "level.behind_connections",
            "the target did not keep up: requests waited longer and longer, with all"
            " {connections:,} connections in use",
            connections=connections.requested,
        )
    return message(
        "level.behind",
        "the target did not keep up: requests waited longer and longer",
    )


def variation(values: list[float]) -> float | None:
    """Return the coefficient of variation as a fraction; None with fewer than two values."""
    if len(values) < 2 or mean(values) == 0:
        return None
    return stdev(values) / mean(values)


def measured_intervals(level: Level) -> list[Interval]:
    """Return the whole intervals of the measured window: not a last short one."""
    longest = max((interval.seconds for interval in level.window), default=0)
    return [interval for interval in level.window if interval.seconds >= 0.5 * longest]


def _point(rounds: list[Level]) -> LevelPoint:
    rates = [level.ok_per_s for level in rounds]
    times = [level.latency.response.p95 for level in rounds]
    intervals = [interval for level in rounds for interval in measured_intervals(level)]
    is_single = len(rounds) == 1
    spread_of = _known(interval.ok_per_s for interval in intervals) if is_single else rates
    p95s = [interval.latency.response.p95 for interval in intervals] if is_single else times
    return LevelPoint(
        concurrency=rounds[0].concurrency,
        rate=_rate(rounds[0]),
        ok_per_s=median(rates),
        service_ms=_median(level.latency.service.mean for level in rounds),
        success_rate=_median(level.success_rate for level in rounds),
        p95_ms=_median(times),
        rounds=len(rounds),
        at_least=any(level.is_contended for level in rounds),
        generator_limited=all(level.is_limited for level in rounds),
        interrupted=all(level.interrupted for level in rounds),
        reasons=tuple(dict.fromkeys(r for level in rounds for r in level.health.reasons)),
        ok_per_s_range=_range(spread_of),
        p95_ms_range=_range(_known(p95s)),
        p95_at_least=any(level.latency.response.is_lower_bound("p95") for level in rounds),
        spread=variation(spread_of),
        stream=_streamed(rounds),
    )


def _rate(level: Level) -> float | UnsetType:
    return UNSET if level.offered_rate is None else level.offered_rate


def _streamed(rounds: list[Level]) -> dict[str, float]:
    """Return the medians of the numbers of streams that have a value."""
    streams = [level.stream for level in rounds if level.stream]
    times = list(map(times_of_streams, rounds))
    names = dict.fromkeys(name for each in times for name in each)
    values = {name: _median(getattr(s, key) for s in streams) for name, key in RATES.items()}
    for name, stat in itertools.product(names, STATS):
        measured = (each[name].value(stat) for each in times if name in each)
        values[f"{name} {stat}"] = _median(measured)
    return {name: value for name, value in values.items() if value is not None}


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _median(values: Iterable[float | None]) -> float | None:
    known = _known(values)
    return median(known) if known else None


def _range(values: list[float]) -> tuple[float, float] | None:
    return (min(values), max(values)) if len(values) > 1 else None
