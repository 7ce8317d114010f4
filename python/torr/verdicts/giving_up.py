"""Estimate how long requests occupy an LLM server after their users have given up.

The server's running and waiting requests are those that the clients have open and those whose
users have given up. By Little's law, the mean number of the latter is their rate times the mean
time that each of them goes on occupying the server:

    time = mean(server's requests − clients' open requests) / cancellations per second

Differences below 0 count as they are: without them, noise alone would be a time. A request is open
for a client before the server has it, and until its last byte has arrived. Waits before sending and
the round trip of the network, as opening a connection shows it, are measured, and added.
"""

from __future__ import annotations

from bisect import bisect_left
from statistics import fmean
from typing import TYPE_CHECKING

from msgspec import structs

from torr.messages.message import Message, message, message_count
from torr.results.serving import AfterGivingUp
from torr.stats.series import by_position, noun_of, place_of
from torr.stats.standard_error import standard_error
from torr.units import show_ms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.results.level import Interval, Level
    from torr.results.position import Position
    from torr.results.serving import ServingSeries

LEAST_CANCELLED = 20
"""Fewer cancellations say little about their mean."""
LEAST_SAMPLES = 6
"""Fewer readings say nothing about their correlation."""
FOREIGN = 1.2
"""How many times the load's attempts the server's first tokens are, if others use it too."""
_NEAR_S = 1.0
"""Servers are read once a second, each at its own moment."""
CHANCE = 0.05
"""The chance that an interval does not hold the true value."""


def after_giving_up(levels: Sequence[Level]) -> list[AfterGivingUp]:
    """Return the estimate of each level at which users gave up."""
    groups = by_position(level for level in levels if level.cancelled_per_s)
    estimates = {position: _of_usable(rounds) for position, rounds in groups.items()}
    if len(estimates) == 1:
        return list(estimates.values())
    return [_placed(estimate, position, levels) for position, estimate in estimates.items()]


def _of_usable(rounds: Sequence[Level]) -> AfterGivingUp:
    """Return the estimate of the rounds that claim something, or why there is none."""
    usable = [x for x in rounds if not (x.is_limited or x.cut_short or x.is_starved)]
    if usable:
        return _estimate(usable)
    return AfterGivingUp(
        concurrency=rounds[0].concurrency,
        cancelled=round(_cancelled(rounds), 6),
        text=_why_unusable(rounds[0]),
    )


def _why_unusable(level: Level) -> Message:
    if level.is_limited:
        return message(
            "giving_up.limited",
            "How long requests occupy the server after their users give up is not known: the"
            " generator was the limit",
        )
    if level.cut_short:
        return message(
            "giving_up.cut_short",
            "How long requests occupy the server after their users give up is not known: the level"
            " was cut short",
        )
    return message(
        "giving_up.starved",
        "How long requests occupy the server after their users give up is not known: some users got"
        " no response",
    )


def _cancelled(rounds: Sequence[Level]) -> float:
    return sum((level.cancelled_per_s or 0.0) * level.seconds for level in rounds)


def _estimate(rounds: Sequence[Level]) -> AfterGivingUp:
    cancelled = _cancelled(rounds)
    extra = [value for level in rounds for value in extra_requests(level)]
    problem = _problem(rounds, cancelled, len(extra))
    mean_ms = low_ms = high_ms = None
    if problem is None:
        ms_each = 1000 * sum(level.seconds for level in rounds) / cancelled
        middle, margin = fmean(extra) * ms_each, _margin(extra) * ms_each
        mean_ms, low_ms, high_ms = map(_time, (middle, middle - margin, middle + margin))
    return AfterGivingUp(
        concurrency=rounds[0].concurrency,
        cancelled=round(cancelled, 6),
        samples=len(extra),
        extra_requests=round(fmean(extra), 6) if extra else None,
        occupied_ms=mean_ms,
        low_ms=low_ms,
        high_ms=high_ms,
        text=problem
        or message(
            "giving_up.occupied",
            "After a user gives up, the request occupies the server for {time} on average"
            " ({low} to {high})",
            time=show_ms(mean_ms),
            low=show_ms(low_ms),
            high=show_ms(high_ms),
        ),
    )


def _time(milliseconds: float) -> float:
    return max(0.0, round(milliseconds, 3))


def _placed(estimate: AfterGivingUp, position: Position, levels: Sequence[Level]) -> AfterGivingUp:
    place = place_of(position, noun_of(levels))
    text = message("giving_up.at", "{place}: {text}", place=place, text=estimate.text)
    return structs.replace(estimate, text=text)


def extra_requests(level: Level) -> list[float]:
    """Return the requests that a server had more than the clients, at each of its readings."""
    sources = level.monitor.serving.sources if level.monitor and level.monitor.serving else []
    having = [source for source in sources if source.running and source.waiting]
    servers = [_RequestsOverTime.of_source(source, level.seconds) for source in having]
    clients = _RequestsOverTime.of_clients(level.intervals)
    if not servers or not all(servers) or clients is None:
        return []
    unseen = _unseen(level)
    # Those of a long load keep some of their readings, and not those of the same seconds.
    times = min((server.times for server in servers), key=len)
    times = [at_s for at_s in times if all(server.has(at_s) for server in servers)]
    return [
        sum(server.at(at_s) for server in servers) - clients.at(at_s) + unseen for at_s in times
    ]


class _RequestsOverTime:
    """Open requests at known times, and linear between them."""

    def __init__(self, times: list[float], counts: list[float]) -> None:
        self.times = times
        self._counts = counts

    def __bool__(self) -> bool:
        return bool(self.times)

    @classmethod
    def of_source(cls, source: ServingSeries, seconds: float) -> _RequestsOverTime:
        """Return those of a server within the window, at the ends of its intervals."""
        ends = [begin + length for begin, length in zip(source.t_s, source.seconds, strict=True)]
        known = [
            (at_s, running + waiting)
            for at_s, running, waiting in zip(ends, source.running, source.waiting, strict=True)
            if running is not None and waiting is not None and 0 <= at_s <= seconds
        ]
        return cls([at for at, _ in known], [count for _, count in known])

    @classmethod
    def of_clients(cls, intervals: Sequence[Interval]) -> _RequestsOverTime | None:
        """Return the clients', at the ends of intervals; None if they do not have them."""
        known = [
            (piece.t_s + piece.seconds, piece.requests_open)
            for piece in intervals
            if isinstance(piece.requests_open, int)
        ]
        known.sort()
        return cls([at for at, _ in known], [count for _, count in known]) if known else None

    def has(self, at_s: float) -> bool:
        """Return whether a time lies between known ones, or within a second of them."""
        return self.times[0] - _NEAR_S <= at_s <= self.times[-1] + _NEAR_S

    def at(self, at_s: float) -> float:
        """Return those at a time; before the first and after the last known time, those then."""
        after = bisect_left(self.times, at_s)
        if after in (0, len(self.times)):
            return self._counts[min(after, len(self._counts) - 1)]
        begin, end = self.times[after - 1], self.times[after]
        share = (at_s - begin) / (end - begin)
        return self._counts[after - 1] + share * (self._counts[after] - self._counts[after - 1])


def _unseen(level: Level) -> float:
    """Return how many open requests the server does not know, on average: by Little's law.

    They wait to be sent, or they or the ends of their responses are under way in the network. A
    user who has given up waits for no end of a response.
    """
    wait_ms = level.latency.queue_wait.mean or 0.0
    round_trip_ms = level.latency.connect.p50 or level.latency.connect.mean or 0.0
    waiting = level.attempted_per_s * wait_ms
    under_way = (level.attempted_per_s - 0.5 * (level.cancelled_per_s or 0.0)) * round_trip_ms
    return (waiting + under_way) / 1000


def _margin(extra: Sequence[float]) -> float:
    # scipy.stats takes a second to import.
    from scipy.special import stdtrit

    return -float(stdtrit(len(extra) - 1, CHANCE / 2)) * standard_error(extra)


def _problem(rounds: Sequence[Level], cancelled: float, samples: int) -> Message | None:
    """Return why the time is not known; None if it is."""
    sources = [x.monitor.serving for x in rounds if x.monitor and x.monitor.serving]
    if not any(source.running for serving in sources for source in serving.sources):
        return message(
            "giving_up.no_monitor",
            "How long requests occupy the server after their users give up is not known: no"
            " `--monitor` reads its running requests",
        )
    if any(_is_used_by_others(level) for level in rounds):
        return message(
            "giving_up.others",
            "How long requests occupy the server after their users give up is not known: the server"
            " answered requests of other clients too",
        )
    if cancelled < LEAST_CANCELLED:
        return message_count(
            "giving_up.few",
            round(cancelled),
            "How long requests occupy the server after their users give up is not known: only {n:,}"
            " user gave up in the window ({least} are needed)",
            "How long requests occupy the server after their users give up is not known: only {n:,}"
            " users gave up in the window ({least} are needed)",
            least=LEAST_CANCELLED,
        )
    if samples < LEAST_SAMPLES:
        return message_count(
            "giving_up.few_readings",
            samples,
            "How long requests occupy the server after their users give up is not known: there is"
            " only {n:,} reading of the server in the window",
            "How long requests occupy the server after their users give up is not known: there are"
            " only {n:,} readings of the server in the window",
        )
    return None


def _is_used_by_others(level: Level) -> bool:
    usage = level.monitor.serving.derived if level.monitor and level.monitor.serving else None
    counted = usage.first_tokens if usage else None
    return counted is not None and counted > FOREIGN * level.attempted_per_s * level.seconds
