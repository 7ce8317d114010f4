"""Convert rounds of functions to trials, in the form of result.json's levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr import engine
from torr.results.functions import FunctionTiming
from torr.results.level import AttemptCounts, Health, Latency, Level

if TYPE_CHECKING:
    from torr.micro.measuring import Measurement, Round
    from torr.results.base import Factors, Statistics


def trials(name: str, parameters: Factors, measured: Measurement) -> list[Level]:
    """Return the levels of a measurement, one per round, with `name` as candidate."""
    return [
        trial(name, parameters, number, round_, measured)
        for number, round_ in enumerate(measured.rounds, 1)
    ]


def trial(
    name: str, parameters: Factors, number: int, round_: Round, measured: Measurement
) -> Level:
    """Return a round as a level, whose concurrency is the number of threads.

    The first round gets the error samples of all rounds.
    """
    failed = round_.errors.total() * measured.batch
    times, histogram = _statistics(round_, measured.batch)
    errors = {"check": failed} if failed else {}
    return Level(
        candidate=name,
        factors=dict(parameters),
        round=number,
        concurrency=measured.threads,
        seconds=round_.busy_ns / 1e9,
        counts=AttemptCounts(
            planned=round_.attempted, attempted=round_.attempted, ok=round_.ok, errors=errors
        ),
        reasons={f"raised.{kind}": n * measured.batch for kind, n in round_.errors.items()},
        samples=measured.errors.samples() if number == 1 else [],
        ok_per_s=round_.ok_per_s,
        attempted_per_s=round_.attempted / (round_.busy_ns / 1e9) if round_.busy_ns else 0.0,
        success_rate=100 * round_.ok / round_.attempted if round_.attempted else None,
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


def _statistics(round_: Round, batch: int) -> tuple[Statistics | None, str]:
    """Return statistics of the times, and their histogram in whole nanoseconds.

    Statistics of batches are computed of whole batches and then divided: an operation of 9.4 ns
    would otherwise take 9 ns in every round, and rounds without spread give intervals of width 0.
    """
    own, histogram = engine.statistics([round(time) for time in round_.times_ns])
    if batch == 1:
        return own, histogram
    whole, _ = engine.statistics([round(time * batch) for time in round_.times_ns])
    return whole and whole.divided_by(batch), histogram
