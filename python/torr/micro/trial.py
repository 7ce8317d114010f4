"""Rounds of functions as trials, in the form of result.json's levels: what every reader knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr import engine
from torr.results.functions import FunctionTiming
from torr.results.level import AttemptCounts, Health, Latency, Level

if TYPE_CHECKING:
    from torr.micro.measuring import Measurement, Round
    from torr.results.base import Factors, Statistics


def trials(name: str, parameters: Factors, measured: Measurement) -> list[Level]:
    """Return one level a round of a measurement, under the name of what was measured."""
    return [
        trial(name, parameters, number, one, measured)
        for number, one in enumerate(measured.rounds, 1)
    ]


def trial(name: str, parameters: Factors, number: int, one: Round, measured: Measurement) -> Level:
    """Return a round as a level: its threads are what it counts as concurrency.

    The first round has the error samples of all.
    """
    failed = one.errors.total() * measured.batch
    times, histogram = _statistics(one, measured.batch)
    errors = {"check": failed} if failed else {}
    return Level(
        candidate=name,
        factors=dict(parameters),
        round=number,
        concurrency=measured.threads,
        seconds=one.busy_ns / 1e9,
        counts=AttemptCounts(
            planned=one.attempted, attempted=one.attempted, ok=one.ok, errors=errors
        ),
        reasons={f"raised.{kind}": n * measured.batch for kind, n in one.errors.items()},
        samples=measured.errors.samples() if number == 1 else [],
        ok_per_s=one.ok_per_s,
        attempted_per_s=one.attempted / (one.busy_ns / 1e9) if one.busy_ns else 0.0,
        success_rate=100 * one.ok / one.attempted if one.attempted else None,
        latency=Latency(service_ms=times, response_ms=times),
        histograms={"service": histogram, "response": histogram},
        health=Health(verdict="healthy"),
        micro=FunctionTiming(
            batch=measured.batch,
            clock_ns=measured.overhead.clock_ns,
            turn_ns=measured.overhead.turn_ns,
            gc="off in rounds" if measured.gc_off else "on",
            threads=measured.threads,
        ),
    )


def _statistics(one: Round, batch: int) -> tuple[Statistics | None, str]:
    """Statistics of the times, and their histogram, which holds whole nanoseconds.

    Of batches they are those of whole batches, taken apart afterwards: an operation of 9.4 ns would
    else be one of 9 in every round, and rounds without any spread would be sure of everything.
    """
    own, histogram = engine.statistics([round(time) for time in one.times_ns])
    if batch == 1:
        return own, histogram
    whole, _ = engine.statistics([round(time * batch) for time in one.times_ns])
    return whole and whole.divided_by(batch), histogram
