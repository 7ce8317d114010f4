"""Rounds of functions as trials, in the form of result.json's levels: what every reader knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torr import engine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torr.micro.measuring import Measurement, Round

Level = dict[str, Any]


def trials(name: str, parameters: Mapping[str, Any], measured: Measurement) -> list[Level]:
    """Return one level a round of a measurement, under the name of what was measured."""
    found = [
        trial(name, parameters, number, one, measured)
        for number, one in enumerate(measured.rounds, 1)
    ]
    if found:
        found[0]["samples"] = measured.errors.samples()
    return found


def trial(
    name: str, parameters: Mapping[str, Any], number: int, one: Round, measured: Measurement
) -> Level:
    """Return a round as a level: its threads are what it counts as concurrency."""
    failed = one.errors.total() * measured.batch
    times, histogram = _statistics(one, measured.batch)
    return {
        "candidate": name,
        "factors": dict(parameters),
        "round": number,
        "concurrency": measured.threads,
        "rate": None,
        "seconds": one.busy_ns / 1e9,
        "counts": {
            "planned": one.attempted,
            "attempted": one.attempted,
            "ok": one.ok,
            "dropped": 0,
            "in_flight": 0,
            "errors": {"check": failed} if failed else {},
        },
        "reasons": {f"raised.{kind}": n * measured.batch for kind, n in one.errors.items()},
        "statuses": {},
        "samples": [],
        "ok_per_s": one.ok_per_s,
        "attempted_per_s": one.attempted / (one.busy_ns / 1e9) if one.busy_ns else 0.0,
        "success_rate": 100 * one.ok / one.attempted if one.attempted else None,
        "latency": {"service_ms": times, "response_ms": times},
        "histograms": {"service": histogram, "response": histogram},
        "slices": [],
        "health": {"verdict": "healthy", "reasons": []},
        "micro": {
            "batch": measured.batch,
            "clock_ns": measured.overhead.clock_ns,
            "turn_ns": measured.overhead.turn_ns,
            "gc": "off in rounds" if measured.gc_off else "on",
            "threads": measured.threads,
        },
    }


def _statistics(one: Round, batch: int) -> tuple[dict[str, Any] | None, str]:
    """Statistics of the times, and their histogram, which holds whole nanoseconds.

    Of batches they are those of whole batches, taken apart afterwards: an operation of 9.4 ns would
    else be one of 9 in every round, and rounds without any spread would be sure of everything.
    """
    own, histogram = engine.statistics([round(time) for time in one.times_ns])
    if batch == 1 or own is None:
        return own, histogram
    whole, _ = engine.statistics([round(time * batch) for time in one.times_ns])
    return {key: _of_one(key, value, batch) for key, value in (whole or {}).items()}, histogram


def _of_one(key: str, value: Any, batch: int) -> Any:  # noqa: ANN401 - JSON
    """A statistic of one operation of a batch; numbers of times and shares of them stay."""
    is_time = key not in {"n", "within_stdev_rate"} and isinstance(value, (int, float))
    return value / batch if is_time else value
