"""The times of streams that have charts, in their order: those of texts, or of gRPC's messages.

Tables show all times that streams have (`StreamStatistics.times`), charts the few that a user
notices: the first text, or the first event where no stream has a text; the time between two; and
`message`, where the messages of a call are answered one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.results.level import times_of_streams

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from torr.model.plan import Plan
    from torr.results.level import Level

GAPS = "inter_chunk"
# Metrics of streams that are no times.
NO_TIMES = ("tokens/s", "goodput")


def first_of(known: Collection[str]) -> str:
    """Return the time to the first text, or to the first event where no stream has a text."""
    return "ttft" if "ttft" in known else "ttfe"


def chart_of(limited: str, known: Collection[str]) -> str:
    """Return the time in whose chart a limit on a time is drawn.

    Messages of gRPC have no `ttft` of their own: their first text is their first event.
    """
    return first_of(known) if limited == "ttft" and "ttfe" in known else limited


def charted(known: Collection[str]) -> tuple[str, ...]:
    """Return the times that have charts, of those that streams have."""
    return tuple(name for name in (first_of(known), GAPS, "message") if name in known)


def by_percentile(levels: Iterable[Level]) -> tuple[str, ...]:
    """Return the times of the streams of levels that are drawn at each percentile."""
    return charted({name for level in levels for name in times_of_streams(level)})


def over_time(level: Level) -> tuple[str, ...]:
    """Return the times of a level's streams that are drawn over time."""
    return by_token(times_of_streams(level))


def by_token(known: Collection[str]) -> tuple[str, ...]:
    """Return the times that have charts, with the time per token in place of the gaps of texts."""
    names = (name for name in charted(known) if name != GAPS)
    return (*names, "tpot") if "tpot" in known else tuple(names)


def planned(plan: Plan) -> tuple[str, ...]:
    """Return the times of streams that will be drawn over time, before a load has any."""
    streams = [request for request in plan.requests if request.stream]
    calls = [request.grpc for request in streams if request.grpc]
    if not calls:
        return ("ttft",) if streams else ()
    is_answered = any(call.measures_messages for call in calls)
    return ("ttfe", "message") if is_answered else ("ttfe",)


def over_concurrency(known: Collection[str], limited: Collection[str]) -> tuple[str, ...]:
    """Return the metrics of streams that a ladder has panels of, of those that its levels have.

    The pace of texts is `tpot` if only that has a limit.
    """
    is_by_token = "tpot" in limited and GAPS not in limited
    names = [("tpot" if is_by_token and name == GAPS else name) for name in charted(known)]
    return tuple(name for name in (*names, *NO_TIMES) if name in known)
