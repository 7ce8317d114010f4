"""Levels of a ladder put in order: one point a level of concurrency, the median of its rounds.

What result.json has in the order of measuring, every reader needs by concurrency. Levels that the
generator limited, those cut short, and those whose users starved are kept apart, since they claim
nothing; contended ones stay, marked `at_least`. A level at which nothing succeeded stays too: it is
what the target did. A .dat file gives the same points, with less in them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, median, stdev
from typing import Any

from torr.model.condition import STATS
from torr.model.stream import TIMES
from torr.units import show_levels

Level = Mapping[str, Any]

RATES = {"tokens/s": "tokens_per_s", "goodput": "goodput_rate"}
"""Of streams, what conditions call them and what result.json does."""

MOST_STARVED = 1
"""Percent of the users that may be missing from a level that claims something: as many as the
connections that a healthy generator may miss."""


@dataclass(frozen=True)
class Point:
    """One level of concurrency: ok/s, mean service time and p95 response time in ms, success in %.

    Each is the median over `rounds`; the lows and highs are the extremes over the rounds, or over
    the slices of a single one. `at_least` says that client and target shared the machine.
    """

    concurrency: int
    ok_per_s: float
    service_ms: float | None
    success_rate: float | None
    p95_ms: float | None = None
    rounds: int = 1
    at_least: bool = False
    limited: bool = False
    interrupted: bool = False
    reasons: tuple[str, ...] = ()
    ok_per_s_range: tuple[float, float] | None = None
    p95_ms_range: tuple[float, float] | None = None
    p95_at_least: bool = False
    """Whether due requests were never sent, so that p95 is a lower bound."""
    spread: float | None = None
    """Coefficient of variation of ok/s, as a fraction: of the rounds, or of the slices of one."""
    stream: Mapping[str, float] = field(default_factory=dict)
    """What is known of streams, each by its name in a condition: `ttft p95`, `tokens/s`."""

    def value(self, metric: str) -> float | None:
        """Return a number by the name of its field, or by that in `stream`; None without one."""
        found: float | None = self.stream.get(metric, getattr(self, metric, None))
        return found

    @property
    def is_dead(self) -> bool:
        """Whether no request succeeded."""
        return self.ok_per_s == 0 and self.service_ms is None


@dataclass(frozen=True)
class Series:
    """The points of one ladder, ascending, and those that claim nothing.

    `limited` holds those the generator limited, `cut` those that were cut short, `starved` those
    whose figures are of a part of the users only.
    """

    name: str
    points: tuple[Point, ...]
    limited: tuple[Point, ...] = ()
    cut: tuple[Point, ...] = ()
    starved: tuple[Point, ...] = ()
    noun: str = "connection"
    """What its levels count: `user`, where users share fewer connections."""

    @classmethod
    def of(cls, name: str, levels: Iterable[Level]) -> Series:
        """Put the levels of a result in order.

        A level of several rounds is limited, cut short or starved only if all of them are; else its
        other rounds count.
        """
        levels = list(levels)
        points: list[Point] = []
        limited: list[Point] = []
        cut: list[Point] = []
        starved: list[Point] = []
        for rounds in by_concurrency(levels).values():
            usable = [level for level in rounds if not is_limited(level)]
            whole = [level for level in usable if not is_cut(level)]
            fed = [level for level in whole if not is_starved(level)]
            kind = points if fed else starved if whole else cut if usable else limited
            kind.append(_point(fed or whole or usable or rounds))
        noun = noun_of(levels)
        return cls(name, tuple(points), tuple(limited), tuple(cut), tuple(starved), noun)

    @property
    def shown(self) -> tuple[Point, ...]:
        """Every level that there is a number of, ascending."""
        every = (*self.points, *self.limited, *self.cut, *self.starved)
        return tuple(sorted(every, key=lambda point: point.concurrency))

    def places(self, *counts: int) -> str:
        """Write levels with their noun: `1, 8 and 16 connections`."""
        return show_levels(counts, self.noun)

    def at(self, concurrency: int) -> Point | None:
        """Return the point at a level of concurrency that claims something."""
        return next((p for p in self.points if p.concurrency == concurrency), None)


def noun_of(levels: Iterable[Level]) -> str:
    """Say what levels count: users, where those of any share connections or make their own."""
    return "user" if any(is_shared(x) or is_of_locust(x) for x in levels) else "connection"


def is_shared(level: Level) -> bool:
    """Whether there are more users than connections were asked for."""
    asked: int | None = (level.get("connections") or {}).get("asked")
    return bool(asked) and asked < level["concurrency"]


def is_of_locust(level: Level) -> bool:
    """Whether users of Locust fired, each over the connections that it made."""
    return level.get("front") == "locust"


def has_one_crowd(level: Level) -> bool:
    """Whether there were as many users in each slice of the window, as far as is known."""
    window = (x for x in level.get("slices") or () if x.get("phase") == "measure")
    return len({x.get("concurrency") for x in window}) < 2


def events_of(level: Level) -> int:
    """How many events a locustfile fired by itself: they are in no total."""
    return sum(
        step["counts"]["attempted"] for step in level.get("steps") or () if step.get("event")
    )


def is_mixed(level: Level) -> bool:
    """Whether some of its load were users, the rest arrivals at a rate."""
    return bool(level.get("users")) and level.get("rate") is not None


def users_of(level: Level) -> int:
    """How many users there were: all of its concurrency, unless arrivals came beside them."""
    count: int = level["users"] if is_mixed(level) else level["concurrency"]
    return count


def by_concurrency(levels: Iterable[Level]) -> dict[int, list[Level]]:
    """Group levels by their concurrency, ascending.

    Left out are those that ended before their window. One whose window brought no attempt stays:
    its users hung.
    """
    groups: dict[int, list[Level]] = {}
    for level in levels:
        if attempted(level) or level.get("failure") or not level.get("interrupted"):
            groups.setdefault(level["concurrency"], []).append(level)
    return dict(sorted(groups.items()))


def lowest(levels: Iterable[Level]) -> list[Level]:
    """Return the rounds of the lowest concurrency that claims anything: a run is judged by them."""
    claiming = [level for level in levels if not is_limited(level) and not is_starved(level)]
    return next(iter(by_concurrency(claiming).values()), [])


def attempted(level: Level) -> int:
    """Return how many attempts the window had; 1 where it is not said."""
    count: int = (level.get("counts") or {}).get("attempted", 1)
    return count


def ended(level: Level) -> int:
    """Return how many attempts of the window ended, well or not."""
    return int((level.get("counts") or {}).get("ok", 0)) + failed(level)


def failed(level: Level) -> int:
    """Return how many attempts of the window failed."""
    return sum(((level.get("counts") or {}).get("errors") or {}).values())


def is_cut(level: Level) -> bool:
    """Whether the level was ended before its window was over, so that it claims nothing."""
    return bool(level.get("cut_short", level.get("interrupted")))


def is_starved(level: Level) -> bool:
    """Whether users waited through the whole window for an answer to a request of the warm-up.

    The others' figures are true, but they are those of fewer users than the level is named after.
    """
    starved: int = level.get("starved") or 0
    return 100 * starved > MOST_STARVED * users_of(level)


def starved_text(level: Level) -> str:
    """Say how many users starved, as a clause."""
    return f"{level['starved']:,} of {users_of(level):,} users got no answer in the window"


def is_limited(level: Level) -> bool:
    """Whether the generator was the limit, so that the level claims nothing."""
    return verdict_of(level) == "generator-limited"


def verdict_of(level: Level) -> str:
    """Return the word of the level's health."""
    word: str = (level.get("health") or {}).get("verdict", "healthy")
    return word


def variation(values: list[float]) -> float | None:
    """Return the coefficient of variation as a fraction; None with fewer than two values."""
    if len(values) < 2 or mean(values) == 0:
        return None
    return stdev(values) / mean(values)


def _point(rounds: list[Level]) -> Point:
    rates = [level["ok_per_s"] for level in rounds]
    slices = [piece for level in rounds for piece in measured_slices(level)]
    spread_of = rates if len(rates) > 1 else _known(slices, lambda s: s.get("ok_per_s"))
    return Point(
        concurrency=rounds[0]["concurrency"],
        ok_per_s=median(rates),
        service_ms=_median(rounds, lambda level: _time(level, "service_ms", "mean")),
        success_rate=_median(rounds, lambda level: level.get("success_rate")),
        p95_ms=_median(rounds, lambda level: _time(level, "response_ms", "p95")),
        rounds=len(rounds),
        at_least=any(verdict_of(level) == "contended" for level in rounds),
        limited=all(is_limited(level) for level in rounds),
        interrupted=all(bool(level.get("interrupted")) for level in rounds),
        reasons=tuple(dict.fromkeys(r for level in rounds for r in _reasons(level))),
        ok_per_s_range=_range(spread_of),
        p95_ms_range=_range(
            _known(rounds if len(rounds) > 1 else slices, lambda x: _time(x, "response_ms", "p95"))
        ),
        p95_at_least=any("p95" in _unknown_above(level) for level in rounds),
        spread=variation(spread_of),
        stream=_streamed(rounds),
    )


def _unknown_above(level: Level) -> Sequence[str]:
    """The percentiles of a level's response times that are lower bounds."""
    stats = (level.get("latency") or {}).get("response_ms") or {}
    found: Sequence[str] = stats.get("at_least") or ()
    return found


def _streamed(rounds: list[Level]) -> dict[str, float]:
    """The medians of what the streams of a level say, without what nothing says."""
    streams = [level["stream"] for level in rounds if level.get("stream")]
    if not streams:
        return {}
    found = {name: _median(streams, lambda s, key=key: s.get(key)) for name, key in RATES.items()}
    for metric, stat in itertools.product(TIMES, STATS):
        key = stat.replace(".", "_")
        found[f"{metric} {stat}"] = _median(
            streams, lambda s, m=metric, k=key: (s.get(f"{m}_ms") or {}).get(k)
        )
    return {name: value for name, value in found.items() if value is not None}


def measured_slices(level: Level) -> list[Level]:
    """Return the whole slices of the measured window: not the warm-up, not a last short one."""
    slices = [s for s in level.get("slices") or () if s.get("phase", "measure") == "measure"]
    longest = max((s.get("seconds", 0) for s in slices), default=0)
    return [s for s in slices if s.get("seconds", 0) >= 0.5 * longest]


def _time(level: Level, metric: str, stat: str) -> float | None:
    value: float | None = ((level.get("latency") or {}).get(metric) or {}).get(stat)
    return value


def _reasons(level: Level) -> list[str]:
    return list((level.get("health") or {}).get("reasons") or ())


def _known(levels: Iterable[Level], read: Any) -> list[float]:  # noqa: ANN401 - a lambda
    return [value for value in map(read, levels) if value is not None]


def _median(levels: Iterable[Level], read: Any) -> float | None:  # noqa: ANN401 - a lambda
    values = _known(levels, read)
    return median(values) if values else None


def _range(values: list[float]) -> tuple[float, float] | None:
    return (min(values), max(values)) if len(values) > 1 else None
