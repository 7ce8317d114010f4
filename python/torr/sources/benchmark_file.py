"""JSON of pytest-benchmark (`--benchmark-json`, `--benchmark-save`), read as a run of functions.

A round of pytest-benchmark is one timed call; a round of torr is a replicate of many. If the file
has all times (`--benchmark-save-data`), they are divided into rounds in their order. Otherwise each
function has one round with the percentiles of the file.
"""

from __future__ import annotations

import hashlib
import math
import pathlib
import re
from ast import literal_eval
from datetime import timezone
from statistics import fmean, pstdev, quantiles
from typing import TYPE_CHECKING, Any

import msgspec

from torr import engine
from torr.errors import UsageError, require
from torr.messages.say import say
from torr.model.json_input import parse_json
from torr.model.moment import read_stamp, stamp
from torr.model.outside_file import MOST_RESULT_BYTES, read_bounded
from torr.model.parameter import text_of
from torr.results.base import Statistics
from torr.results.functions import FunctionTiming
from torr.results.level import AttemptCounts, Health, Latency, Level
from torr.results.result import SCHEMA, RunResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from torr.model.json import JsonObject


ROUNDS = 10
# A round with fewer times has no useful median.
_MIN_TIMES_PER_ROUND = 20
_S_IN_MS, _S_IN_NS = 1e3, 1e9
# The text of pytest-benchmark for values that JSON does not have.
_UNSERIALIZABLE = re.compile(r"UNSERIALIZABLE\[(.*)\]", re.DOTALL)
_PATH = re.compile(r"(PosixPath|PurePosixPath|PureWindowsPath)\((.*)\)", re.DOTALL)
# Parsing a longer text could exceed Python's limit of nesting; parameters are short.
_LONGEST_REPR = 1000
_PERCENTILES = (50, 75, 90, 95, 99, 99.9, 99.99)


def read(path: Path, name: str | None = None) -> RunResult:
    """Return a result of kind `micro`; raise UsageError that says what is wrong with the file."""
    try:
        content = read_bounded(path, MOST_RESULT_BYTES)
        document = parse_json(content)
        benchmarks = document["benchmarks"]
        levels = [level for benchmark in benchmarks for level in _levels(benchmark)]
        started = stamp(read_stamp(document["datetime"]).astimezone(timezone.utc))
    except OSError as error:
        raise UsageError(
            say("{path} cannot be read: {error}", path=path, error=error.strerror or error)
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        hint = say("write it with --benchmark-json")
        raise UsageError(say("{path} is not JSON of pytest-benchmark", path=path), hint) from error
    require(
        bool(levels),
        say("{path} has no benchmark", path=path),
        say("select some, and write it again"),
    )
    return RunResult(
        schema_=SCHEMA,
        torr=f"pytest-benchmark {document.get('version', '')}".strip(),
        id=hashlib.sha256(content).hexdigest()[:32],
        kind="micro",
        name=name or path.stem,
        started=started,
        ended=started,
        status="complete",
        command=["pytest", f"--benchmark-json={path.name}"],
        environment=_environment(document),
        levels=levels,
    )


def _levels(benchmark: Mapping[str, Any]) -> list[Level]:
    stats = benchmark["stats"]
    name, _, _ = str(benchmark.get("fullname") or benchmark["name"]).partition("[")
    batch = int(stats.get("iterations") or 1)
    times: Sequence[float] = stats.get("data") or ()
    if len(times) < ROUNDS * _MIN_TIMES_PER_ROUND:
        levels = [_single_round(stats, batch)]
    else:
        size = len(times) // ROUNDS
        rounds = (times[number * size : (number + 1) * size] for number in range(ROUNDS))
        levels = [_round(timings, batch, number) for number, timings in enumerate(rounds, 1)]
    factors = _factors(benchmark)
    return [msgspec.structs.replace(level, candidate=name, factors=factors) for level in levels]


def _factors(benchmark: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameters as the pytest plugin writes them, so that both match."""
    parameters = benchmark.get("params") or {}
    return {
        name: text_of(_decoded(value)) or str(benchmark.get("param"))
        for name, value in parameters.items()
    }


def _decoded(value: object) -> object:
    """Return the value of a parameter; an array becomes a tuple, the usual sequence."""
    if isinstance(value, list):
        return tuple(map(_decoded, value))
    shown = _UNSERIALIZABLE.fullmatch(value) if isinstance(value, str) else None
    return value if shown is None else _of_repr(shown[1])


def _of_repr(text: str) -> object:
    """Return the value with this repr if it is a literal or a path, otherwise a new object."""
    path = _PATH.fullmatch(text)
    if len(text) > _LONGEST_REPR:
        return object()
    try:
        value = literal_eval(text if path is None else path[2])
    except (ValueError, SyntaxError, MemoryError, RecursionError):  # the last two: of its parser
        return object()
    return value if path is None else getattr(pathlib, path[1])(value)


def _single_round(stats: Mapping[str, Any], batch: int) -> Level:
    """Return the level of one round with the statistics of the file."""
    count = int(stats["rounds"])
    data: Sequence[float] = stats.get("data") or ()
    statistics = Statistics(
        n=count,
        mean=stats["mean"] * _S_IN_MS,
        stdev=stats["stddev"] * _S_IN_MS,
        min=stats["min"] * _S_IN_MS,
        max=stats["max"] * _S_IN_MS,
        p50=stats["median"] * _S_IN_MS,
        p75=stats["q3"] * _S_IN_MS,
        p90=quantiles(data, n=10)[-1] * _S_IN_MS if len(data) >= _MIN_TIMES_PER_ROUND else None,
    )
    return _level(1, count * batch, stats["mean"] * count * batch, statistics, batch)


def _round(times: Sequence[float], batch: int, number: int) -> Level:
    rounded, histogram = engine.statistics([round(time * _S_IN_NS) for time in times])
    stats = rounded and _unrounded(rounded, sorted(times))
    level = _level(number, len(times) * batch, sum(times) * batch, stats, batch)
    histograms = {"service": histogram, "response": histogram}
    return msgspec.structs.replace(level, histograms=histograms)


def _unrounded(stats: Statistics, times: Sequence[float]) -> Statistics:
    """Return statistics of the times without rounding to nanoseconds, with the same percentiles.

    Means of batches differ by less than a nanosecond: if rounded, rounds would be equal.
    """
    ranks = {
        f"p{percent:g}".replace(".", "_"): math.ceil(percent * len(times) / 100) - 1
        for percent in _PERCENTILES
        if stats.value(f"p{percent:g}") is not None
    }
    ends = {"min": times[0], "max": times[-1], "mean": fmean(times), "stdev": pstdev(times)}
    seconds = {**ends, **{key: times[rank] for key, rank in ranks.items()}}
    return msgspec.structs.replace(stats, **{key: s * _S_IN_MS for key, s in seconds.items()})


def _level(number: int, count: int, seconds: float, stats: Statistics | None, batch: int) -> Level:
    return Level(
        round=number,
        concurrency=1,
        seconds=seconds,
        counts=AttemptCounts(planned=count, attempted=count, ok=count),
        ok_per_s=count / seconds if seconds else 0.0,
        success_rate=100.0,
        latency=Latency(service_ms=stats, response_ms=stats),
        health=Health(verdict="healthy"),
        micro=FunctionTiming(batch=batch, clock_ns=0, turn_ns=0, gc="unknown", threads=1),
    )


def _environment(document: Mapping[str, Any]) -> JsonObject:
    machine, commit = document.get("machine_info") or {}, document.get("commit_info") or {}
    processor = machine.get("cpu") or {}
    return {
        "machine": {
            "host": machine.get("node"),
            "cpu": processor.get("brand_raw"),
            "architecture": machine.get("machine"),
            "cores": processor.get("count"),
        },
        "versions": {"python": machine.get("python_version")},
        "git": commit.get("id"),
    }
