"""The verdict of a run of one level as one sentence: what it holds, answers or streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.counts import counted
from torr.messages.message import message
from torr.messages.say import Text, chain, join, say
from torr.model.condition import Condition
from torr.report.data.stream_charts import first_of
from torr.report.data.wording import because, first_text
from torr.report.text.claims import errors_of, failed_there, phrase, rate_of, value_or_reason
from torr.results.level import times_of_streams
from torr.servers.expectation import SWITCHED
from torr.stats.series import Series, starved_text
from torr.units import show_ms, show_rate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.results.level import Level
    from torr.results.result import RunResult
    from torr.results.series import LevelPoint
    from torr.results.verdict import Verdict


def verdict(result: RunResult) -> Text:
    """Return what a run says of its one level, a clause that ends without a full stop."""
    levels = [level for level in result.levels if not level.is_limited]
    if not levels:
        why = because(first_text(result.levels[0].health.reasons))
        return say("Claims nothing: the generator was the limit{why}", why=why)
    if not any(level.counts.ok for level in levels):
        return say("No request succeeded{errors}", errors=errors_of(result))
    if all(level.is_starved for level in levels):
        return say("Claims nothing: {why}", why=starved_text(levels[0]))
    is_broken = any(verdict.word == "broken" for verdict in result.slo_verdicts)
    if all(level.cut_short for level in levels) and not is_broken:
        why = message("slo.cut_short", "the level was cut short")
        return say("Claims nothing: {why}", why=why)
    point = Series.of("", levels).shown[0]
    place = say("{rate} {over}", rate=_asked(levels[0], point), over=_over(levels[0]))
    clause = (
        _judged(result.slo_verdicts, place)
        or _streamed(place, levels[0])
        or _one_way(place, result)
        or _plain(place, levels[0])
    )
    return chain("; ", [clause, failed_there(point, is_only=True)])


def _asked(level: Level, point: LevelPoint) -> str:
    """Return the rate, beside the intended one in an open loop."""
    rate = rate_of(point)
    # Beside users, the responses of arrivals are not counted apart.
    if level.is_mixed or level.rate is None:
        return rate
    return say("{rate} of {asked} asked for", rate=rate, asked=show_rate(level.rate))


def _over(level: Level) -> Text:
    """Return the number of connections, and of the users who share them; or the trace's times."""
    if level.is_by_times:
        return say("at the times of the trace")
    users = counted(level.concurrency, "user")
    if level.is_of_locust:
        is_all = level.has_constant_users
        return say("to {users}", users=users) if is_all else say("to up to {users}", users=users)
    if not level.connections or not level.is_shared:
        return say("over {connections}", connections=counted(level.concurrency, "connection"))
    connections = counted(level.connections.requested, "connection")
    return say("from {users} over {connections}", users=users, connections=connections)


def _judged(verdicts: Sequence[Verdict], place: str) -> str | None:
    """Return the worst word of the SLOs of a run, with all conditions that have it."""
    for word, write in _JUDGED.items():
        judged = [(Condition.parse(v.condition or ""), v) for v in verdicts if v.word == word]
        if judged:
            clauses = [
                say(
                    "{condition} ({seen})",
                    condition=phrase(condition),
                    seen=value_or_reason(condition, v),
                )
                for condition, v in judged
            ]
            return write(conditions=join(clauses), place=place)
    return None


_JUDGED: dict[str, Callable[..., Text]] = {
    "broken": lambda **what: say("Breaks {conditions} at {place}", **what),
    "not shown": lambda **what: say("Cannot show {conditions} at {place}", **what),
    "held": lambda **what: say("Holds {conditions} at {place}", **what),
}


def _streamed(place: str, level: Level) -> str | None:
    """Return the time to the first text and the rate of tokens, where answers are streams."""
    stream, times = level.stream, times_of_streams(level)
    name = first_of(times)
    if not stream or name not in times:
        return None
    first = say("{metric} {time} on average", metric=name, time=show_ms(times[name].mean))
    if times[name].p95 is not None:
        first = say("{metric} p95 {time}", metric=name, time=show_ms(times[name].p95))
    if stream.stream_tokens_per_s:
        rate = show_rate(stream.stream_tokens_per_s.mean)
        first = say("{first} and {rate} tokens/s each", first=first, rate=rate)
    return say("Streams {place} with {first}", place=place, first=first)


def _one_way(place: str, result: RunResult) -> str | None:
    """Return how long it took until messages were written that have no answers."""
    level = result.levels[0]
    transport = (result.plan or {}).get("transport", {})
    matching = transport.get("websocket", {}).get("matching", {})
    if matching.get("kind") != "none" or not set(level.statuses) <= {str(SWITCHED)}:
        return None
    p95 = level.latency.response.p95
    at_least = "≥ " if level.counts.dropped else ""
    time = f"{at_least}{show_ms(p95)}"
    written = say("; written with p95 {time}", time=time) if p95 is not None else ""
    return say("Is sent {place}, without answers{written}", place=place, written=written)


def _plain(place: str, level: Level) -> str:
    """Return the response time, which includes the wait for a connection."""
    response = level.latency.response
    at_least = "≥ " if level.counts.dropped else ""
    if response.p95 is not None:
        time = f"{at_least}{show_ms(response.p95)}"
        return say("Answers {place} with p95 {time}", place=place, time=time)
    time = f"{at_least}{show_ms(response.mean)}"
    return say("Answers {place} in {time} on average", place=place, time=time)
