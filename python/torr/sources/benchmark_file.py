"""JSON of pytest-benchmark (`--benchmark-json`, `--benchmark-save`), read as a run of functions.

Its rounds are timed calls, torr's are replicates of many of them. Where the file has every time
(`--benchmark-save-data`) they are cut into rounds in their order; else each function has one round,
whose percentiles are those that the file has.
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
from torr.model.json_input import parse_json
from torr.model.moment import read_stamp, stamp
from torr.model.outside_file import MOST_RESULT_BYTES, read_bounded
from torr.model.parameter import text_of
from torr.results.base import Statistics
from torr.results.functions import FunctionTiming
from torr.results.level import AttemptCounts, Health, Latency, Level
from torr.results.result import RunResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

Json = dict[str, Any]

ROUNDS = 10
# A round needs times enough for a median that means something.
_LEAST_IN_A_ROUND = 20
_S_IN_MS, _S_IN_NS = 1e3, 1e9
# How pytest-benchmark writes what JSON does not know.
_SHOWN = re.compile(r"UNSERIALIZABLE\[(.*)\]", re.DOTALL)
_PATH = re.compile(r"(PosixPath|PurePosixPath|PureWindowsPath)\((.*)\)", re.DOTALL)
# A parameter is a word or a number; what Python reads of a long text can be deep.
_LONGEST_REPR = 1000
_PERCENTS = (50, 75, 90, 95, 99, 99.9, 99.99)


def read(path: Path, name: str | None = None) -> RunResult:
    """Return a result of kind `micro`; raises UsageError that says what is wrong with the file."""
    try:
        text = read_bounded(path, MOST_RESULT_BYTES)
        found = parse_json(text)
        benchmarks = found["benchmarks"]
        levels = [level for each in benchmarks for level in _levels(each)]
        started = stamp(read_stamp(found["datetime"]).astimezone(timezone.utc))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        hint = "write it with --benchmark-json"
        raise UsageError(f"{path} is not JSON of pytest-benchmark", hint) from error
    require(bool(levels), f"{path} has no benchmark", "select some, and write it again")
    return RunResult(
        schema_=1,
        torr=f"pytest-benchmark {found.get('version', '')}".strip(),
        id=hashlib.sha256(text).hexdigest()[:32],
        kind="micro",
        name=name or path.stem,
        started=started,
        ended=started,
        status="complete",
        command=["pytest", f"--benchmark-json={path.name}"],
        environment=_environment(found),
        levels=levels,
    )


def _levels(benchmark: Mapping[str, Any]) -> list[Level]:
    stats = benchmark["stats"]
    name, _, _ = str(benchmark.get("fullname") or benchmark["name"]).partition("[")
    batch = int(stats.get("iterations") or 1)
    times: Sequence[float] = stats.get("data") or ()
    if len(times) < ROUNDS * _LEAST_IN_A_ROUND:
        levels = [_whole(stats, batch)]
    else:
        size = len(times) // ROUNDS
        rounds = (times[at * size : (at + 1) * size] for at in range(ROUNDS))
        levels = [_round(each, batch, number) for number, each in enumerate(rounds, 1)]
    factors = _factors(benchmark)
    return [msgspec.structs.replace(level, candidate=name, factors=factors) for level in levels]


def _factors(benchmark: Mapping[str, Any]) -> dict[str, str]:
    """Parameters as the plugin writes them, so that functions are found again by them."""
    given = benchmark.get("params") or {}
    return {
        name: text_of(_thawed(value)) or str(benchmark.get("param"))
        for name, value in given.items()
    }


def _thawed(value: object) -> object:
    """What was written: a tuple, since sequences are that nearly always, or what JSON has not."""
    if isinstance(value, list):
        return tuple(map(_thawed, value))
    shown = _SHOWN.fullmatch(value) if isinstance(value, str) else None
    return value if shown is None else _of_repr(shown[1])


def _of_repr(text: str) -> object:
    """The value with this repr, where that is a literal or a path; else one that nothing tells."""
    path = _PATH.fullmatch(text)
    if len(text) > _LONGEST_REPR:
        return object()
    try:
        found = literal_eval(text if path is None else path[2])
    except (ValueError, SyntaxError, MemoryError, RecursionError):  # the last two: of its parser
        return object()
    return found if path is None else getattr(pathlib, path[1])(found)


def _whole(stats: Mapping[str, Any], batch: int) -> Level:
    """One round of all that there is: the file's own statistics."""
    count = int(stats["rounds"])
    data: Sequence[float] = stats.get("data") or ()
    found = Statistics(
        n=count,
        mean=stats["mean"] * _S_IN_MS,
        stdev=stats["stddev"] * _S_IN_MS,
        min=stats["min"] * _S_IN_MS,
        max=stats["max"] * _S_IN_MS,
        p50=stats["median"] * _S_IN_MS,
        p75=stats["q3"] * _S_IN_MS,
        p90=quantiles(data, n=10)[-1] * _S_IN_MS if len(data) >= _LEAST_IN_A_ROUND else None,
    )
    return _level(1, count * batch, stats["mean"] * count * batch, found, batch)


def _round(times: Sequence[float], batch: int, number: int) -> Level:
    rounded, histogram = engine.statistics([round(time * _S_IN_NS) for time in times])
    stats = rounded and _unrounded(rounded, sorted(times))
    level = _level(number, len(times) * batch, sum(times) * batch, stats, batch)
    histograms = {"service": histogram, "response": histogram}
    return msgspec.structs.replace(level, histograms=histograms)


def _unrounded(stats: Statistics, times: Sequence[float]) -> Statistics:
    """Statistics of the times as they are; they have what the rounded ones have.

    Means of batches differ by less than a nanosecond: rounded, rounds of them would be equal.
    """
    ranks = {
        f"p{percent:g}".replace(".", "_"): math.ceil(percent * len(times) / 100) - 1
        for percent in _PERCENTS
        if stats.value(f"p{percent:g}") is not None
    }
    ends = {"min": times[0], "max": times[-1], "mean": fmean(times), "stdev": pstdev(times)}
    found = {**ends, **{key: times[at] for key, at in ranks.items()}}
    return msgspec.structs.replace(stats, **{key: s * _S_IN_MS for key, s in found.items()})


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


def _environment(found: Mapping[str, Any]) -> Json:
    machine, commit = found.get("machine_info") or {}, found.get("commit_info") or {}
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
