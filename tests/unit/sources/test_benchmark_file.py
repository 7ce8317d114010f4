"""Files of pytest-benchmark, with every time and without."""

from __future__ import annotations

import json
import random
from pathlib import Path
from types import SimpleNamespace

import pytest

from torr.errors import UsageError
from torr.plugin.parameters import parameters_of
from torr.sources import benchmark_file


def benchmark(name="test_put", *, data=None, iterations=1, params=None, param=None, seconds=0.001):
    stats = {
        "min": seconds / 2,
        "max": seconds * 3,
        "mean": seconds,
        "stddev": seconds / 10,
        "median": seconds * 0.9,
        "q1": seconds * 0.8,
        "q3": seconds * 1.1,
        "ops": 1 / seconds,
        "rounds": len(data or range(500)),
        "iterations": iterations,
        "outliers": "0;0",
    }
    if data is not None:
        stats["data"] = data
    label = f"{name}[{param}]" if params else name
    found = {"group": None, "name": label, "fullname": f"tests/test_it.py::{label}"}
    return {**found, "params": params, "param": param, "stats": stats}


def written(path, *benchmarks, **more):
    whole = {
        "machine_info": {"node": "vm", "machine": "x86_64", "python_version": "3.11.7"},
        "commit_info": {"id": "0123456789abcdef", "branch": "main"},
        "benchmarks": list(benchmarks),
        "datetime": "2026-01-31T12:00:00.123456+02:00",
        "version": "5.1.0",
    }
    path.write_text(json.dumps({**whole, **more}))
    return path


def test_without_times_a_function_has_one_round_with_what_the_file_says(tmp_path):
    result = benchmark_file.read(written(tmp_path / "0001_main.json", benchmark()))
    (level,) = result.levels
    assert (result.kind, result.name) == ("micro", "0001_main")
    assert result.started == "2026-01-31T10:00:00.123Z"
    assert result.environment["git"] == "0123456789abcdef"
    assert (level.candidate, level.round) == ("tests/test_it.py::test_put", 1)
    assert level.ok_per_s == pytest.approx(1000)
    times = level.latency.response
    assert (times.n, times.mean, times.p50) == (500, 1.0, pytest.approx(0.9))
    assert times.p99 is None


def test_with_times_they_are_cut_into_rounds_in_their_order(tmp_path):
    data = [0.001 * (1 + at // 100) for at in range(1000)]
    result = benchmark_file.read(written(tmp_path / "a.json", benchmark(data=data)), "cache")
    levels = result.levels
    assert [level.round for level in levels] == list(range(1, 11))
    assert [round(level.ok_per_s) for level in levels][:3] == [1000, 500, 333]
    assert levels[0].latency.response.p50 == pytest.approx(1.0, rel=0.001)
    assert result.name == "cache"


def test_times_of_less_than_a_nanosecond_apart_stay_apart(tmp_path):
    data = [30e-9 + at * 1e-12 for at in range(400)]
    levels = benchmark_file.read(written(tmp_path / "a.json", benchmark(data=data))).levels
    times = [level.latency.response for level in levels]
    assert [each.p50 for each in times] == pytest.approx(
        [1e3 * data[40 * at + 19] for at in range(10)], rel=1e-12
    )
    assert times[0].min < times[0].mean < times[0].max < times[1].min
    assert times[0].stdev == pytest.approx(1.1543e-8, rel=1e-3)
    assert times[0].p99 is None


def test_iterations_are_batches(tmp_path):
    chance = random.Random(1)
    data = [1e-6 * chance.uniform(0.9, 1.1) for _ in range(400)]
    of = benchmark(data=data, iterations=50, seconds=1e-6)
    level = benchmark_file.read(written(tmp_path / "a.json", of)).levels[0]
    assert level.counts.ok == 40 * 50
    assert level.ok_per_s == pytest.approx(1e6, rel=0.05)
    assert level.micro.batch == 50


def test_parameters_are_written_as_the_plugin_writes_them(tmp_path):
    values = [10, "10", 1.5, True, None, "plain", (1, ("a", 2)), b"x", 2j, Path("/a"), ("a", b"x")]
    for value in (*values, object(), {"a": 1}, [object()]):
        shown = SafeJSONEncoder(indent=1).encode({"size": value})
        of = benchmark(params=json.loads(shown), param="its id")
        (level,) = benchmark_file.read(written(tmp_path / "a.json", of)).levels
        spec = SimpleNamespace(params={"size": value}, id="its id")
        factors = parameters_of(SimpleNamespace(callspec=spec))
        assert (level.candidate, level.factors) == ("tests/test_it.py::test_put", factors)


class SafeJSONEncoder(json.JSONEncoder):
    """As pytest-benchmark writes what JSON does not know."""

    def default(self, o):
        return f"UNSERIALIZABLE[{o!r}]"


def test_the_same_file_is_the_same_run(tmp_path):
    path = written(tmp_path / "a.json", benchmark())
    assert benchmark_file.read(path).id == benchmark_file.read(path).id
    other = written(tmp_path / "b.json", benchmark(seconds=0.002))
    assert benchmark_file.read(path).id != benchmark_file.read(other).id


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON of pytest-benchmark"),
        ("[]", "is not JSON of pytest-benchmark"),
        ('{"benchmarks": [{}], "datetime": "2026-01-31"}', "is not JSON of pytest-benchmark"),
        ('{"benchmarks": [], "datetime": "then"}', "is not JSON of pytest-benchmark"),
        ('{"benchmarks": [], "datetime": "2026-01-31"}', "has no benchmark"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path, text, message):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        benchmark_file.read(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"none\.json cannot be read: No such file"):
        benchmark_file.read(tmp_path / "none.json")


def test_the_machine_is_known_by_what_the_file_says_of_its_processor(tmp_path):
    info = {"machine": "x86_64", "cpu": {"brand_raw": "AMD EPYC", "count": 2}}
    path = written(tmp_path / "a.json", benchmark(), machine_info=info)
    assert benchmark_file.read(path).environment["machine"] == {
        "host": None,
        "cpu": "AMD EPYC",
        "architecture": "x86_64",
        "cores": 2,
    }


@pytest.mark.parametrize("shown", ["-" * 200_000 + "1", "(" * 400, "a" * 900])
def test_a_parameter_that_python_cannot_read_is_one_that_nothing_tells(shown):
    assert type(benchmark_file._of_repr(shown)) is object
