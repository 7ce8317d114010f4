"""Files of pytest-benchmark, with every time and without."""

from __future__ import annotations

import json
import random

import pytest

from torr.errors import UsageError
from torr.sources import benchmark_file


def benchmark(name="test_put", *, data=None, iterations=1, params=None, seconds=0.001):
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
    label = f"{name}[{'-'.join(params.values())}]" if params else name
    found = {"group": None, "name": label, "fullname": f"tests/test_it.py::{label}"}
    return {**found, "params": params, "stats": stats}


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
    (level,) = result["levels"]
    assert (result["kind"], result["name"]) == ("micro", "0001_main")
    assert result["started"] == "2026-01-31T10:00:00.123Z"
    assert result["environment"]["git"] == "0123456789abcdef"
    assert (level["candidate"], level["round"]) == ("tests/test_it.py::test_put", 1)
    assert level["ok_per_s"] == pytest.approx(1000)
    times = level["latency"]["response_ms"]
    assert (times["n"], times["mean"], times["p50"]) == (500, 1.0, pytest.approx(0.9))
    assert "p99" not in times


def test_with_times_they_are_cut_into_rounds_in_their_order(tmp_path):
    data = [0.001 * (1 + at // 100) for at in range(1000)]
    result = benchmark_file.read(written(tmp_path / "a.json", benchmark(data=data)), "cache")
    levels = result["levels"]
    assert [level["round"] for level in levels] == list(range(1, 11))
    assert [round(level["ok_per_s"]) for level in levels][:3] == [1000, 500, 333]
    assert levels[0]["latency"]["response_ms"]["p50"] == pytest.approx(1.0, rel=0.001)
    assert result["name"] == "cache"


def test_iterations_are_batches(tmp_path):
    chance = random.Random(1)
    data = [1e-6 * chance.uniform(0.9, 1.1) for _ in range(400)]
    of = benchmark(data=data, iterations=50, seconds=1e-6)
    level = benchmark_file.read(written(tmp_path / "a.json", of))["levels"][0]
    assert level["counts"]["ok"] == 40 * 50
    assert level["ok_per_s"] == pytest.approx(1e6, rel=0.05)
    assert level["micro"]["batch"] == 50


def test_parameters_are_factors(tmp_path):
    of = benchmark(params={"size": "10"})
    (level,) = benchmark_file.read(written(tmp_path / "a.json", of))["levels"]
    assert (level["candidate"], level["factors"]) == ("tests/test_it.py::test_put", {"size": "10"})


def test_the_same_file_is_the_same_run(tmp_path):
    path = written(tmp_path / "a.json", benchmark())
    assert benchmark_file.read(path)["id"] == benchmark_file.read(path)["id"]
    other = written(tmp_path / "b.json", benchmark(seconds=0.002))
    assert benchmark_file.read(path)["id"] != benchmark_file.read(other)["id"]


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
