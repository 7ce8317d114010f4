"""pytest with --torr-compare: functions beside those of an earlier run, and limits of change."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import zlib
from contextlib import closing

import pytest

from torr.store.environment import environment

SOURCE = """
    from simulated_clock import SimulatedClock

    clock = SimulatedClock.installed()

    def test_one(measure):
        measure(lambda: clock.advance({one}), n=30, rounds=6)

    def test_other(measure):
        measure(lambda: clock.advance({other}), n=30, rounds=6)

    def test_threads(stress):
        stress(lambda: clock.advance({threads}), threads=2, per_thread=10)
"""
BEFORE = SOURCE.format(one=0.005, other=0.005, threads=0.005)


@pytest.fixture(scope="module")
def before(sessions, module_folder):
    """The store with a run called main, which was kept."""
    ended = sessions.run(module_folder, BEFORE, "--torr-save", "main")
    assert ended.code == 0, ended.out
    return module_folder / "runs.db"


@pytest.fixture
def store(before, tmp_path):
    """A copy of that store, for this test's session."""
    return shutil.copy(before, tmp_path)


def row(ended, name):
    """The word of a function in the table of what changed."""
    (line,) = re.findall(rf"^test_it\.py::test_{name} +run 1 .*$", ended.out, re.MULTILINE)
    (word,) = {"slower", "faster", "same", "inconclusive"} & {*line.split()}
    return word


@pytest.mark.usefixtures("store")
def test_a_run_is_set_beside_an_earlier_one(pytests):
    changes = ("p50 > +50%", "ops < -5%")
    limits = (word for change in changes for word in ("--torr-fail-if", change))
    now = SOURCE.format(one=0.02, other=0.001, threads=0.03)
    ended = pytests(now, "--torr-compare", "main", *limits)
    assert (ended.code, ended.counts) == (1, {"passed": 3}), ended.out
    assert "not interleaved: drift not excluded" in ended.out
    assert [row(ended, name) for name in ("one", "other", "threads")] == [
        *("slower", "faster", "slower")
    ]
    for change in changes:
        assert f"test_it.py::test_one: {change}: broken\n" in ended.out
        assert f"test_it.py::test_other: {change}: held" in ended.out
    assert "test_it.py::test_threads: ops < -5%: broken\n" in ended.out


def test_a_run_of_another_machine_is_scaled_by_what_is_known_of_both(pytests, store):
    with closing(sqlite3.connect(store)) as base, base:
        ((packed,),) = base.execute("select json_zlib from results").fetchall()
        other = json.loads(zlib.decompress(packed))
        other["environment"]["machine"]["cpu"] = "another"
        other["machine_speed"] = {"median": 1.0, "least": 0.9, "most": 1.1}
        packed = zlib.compress(json.dumps(other).encode())
        base.execute("update results set json_zlib = ?", (packed,))
    speed = """
    from torr.micro import machine
    from torr.results.functions import MachineSpeed

    machine.speed = lambda: MachineSpeed(2.0, 1.9, 2.1)
    """
    now = speed + SOURCE.format(one=0.005, other=0.0005, threads=0.0025)
    ended = pytests(now, "--torr-compare", "main")
    scaled = "the earlier run is from another machine: its numbers are scaled by 2.00 (1.73–2.33)"
    assert scaled in ended.out
    assert [row(ended, name) for name in ("one", "other", "threads")] == [
        *("slower", "faster", "inconclusive")
    ]


@pytest.mark.usefixtures("store")
def test_a_limit_that_is_not_shown_passes_only_where_that_is_allowed(pytests):
    source = """
        def test_one(measure): measure(int, n=50, rounds=6)
        def test_new(measure): measure(int, n=50, rounds=6)
    """
    limits = ("--torr-compare", "main", "--torr-fail-if", "p99 > +10%")
    ended = pytests(source, *limits)
    assert (ended.code, ended.counts) == (1, {"passed": 2})
    assert "--torr-fail-if: a limit is not shown: measure more operations" in ended.out
    ended = pytests(source, *limits, "--torr-allow-not-shown")
    assert ended.code == 0
    assert "a limit is not shown" not in ended.out
    told = "p99 > +10%: not shown: too few operations in a trial for p99"
    assert f"test_it.py::test_one: {told}" in ended.out
    assert "not compared, since run 1 does not have them: test_it.py::test_new" in ended.out


@pytest.mark.usefixtures("store")
def test_functions_of_the_earlier_run_that_are_not_measured_now_are_named(pytests):
    ended = pytests("def test_one(measure): measure(int, n=50, rounds=6)", "--torr-compare", "main")
    assert ended.code == 0
    others = "test_it.py::test_other, test_it.py::test_threads"
    assert f"not measured now, only in run 1: {others}" in ended.out


@pytest.mark.usefixtures("store")
def test_limits_are_an_error_where_nothing_is_measured(pytests):
    limits = ("--torr-compare", "main", "--torr-fail-if", "p50 > +10%")
    ended = pytests("def test_plain(): pass", *limits)
    assert (ended.code, ended.counts) == (4, {"passed": 1})
    assert "--torr-fail-if: nothing was compared, no function was measured" in ended.out
    assert pytests("def test_plain(): pass", *limits, "--collect-only").code == 0


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("change", ["renamed", "rootdir"])
def test_limits_of_what_was_compared_with_nothing_are_an_error(pytests, tmp_path, change):
    limits = ("--torr-compare", "main", "--torr-fail-if", "p50 > +10%")
    name = "test_one" if change == "rootdir" else "test_renamed"
    more = ("--rootdir", tmp_path.parent) if change == "rootdir" else ()
    ended = pytests(f"def {name}(measure): measure(int, n=50, rounds=1)", *limits, *more)
    assert ended.code == 4
    assert "nothing was compared, run 1 has none of these functions" in ended.out
    assert "it has test_it.py::test_one, test_it.py::test_other, test_it.py::test_thr" in ended.out
    assert "run pytest with the --rootdir of that run" in ended.out


def test_a_run_of_pytest_benchmark_on_this_machine_is_compared_as_any_other(
    pytests, torr, tmp_path
):
    machine = environment()["machine"]
    stats = {"min": 1.0, "max": 1.0, "mean": 1.0, "stddev": 0.0, "rounds": 400, "iterations": 1}
    data = [1 + at / 1e6 for at in range(400)]
    test = {"name": "test_it", "fullname": "test_it.py::test_it", "stats": {**stats, "data": data}}
    whole = {
        "machine_info": {
            "machine": machine["architecture"],
            "cpu": {"brand_raw": machine["cpu"], "count": machine["cores"]},
        },
        "benchmarks": [test],
        "datetime": "2026-01-31T12:00:00.123456+02:00",
        "version": "5.1.0",
    }
    (tmp_path / "main.json").write_text(json.dumps(whole))
    torr("runs", "import", "main.json", "-n", "main")
    limits = ("--torr-fail-if", "ops < -50%", "--torr-fail-if", "p50 > +50%")
    source = "def test_it(measure): measure(int, n=500)"
    ended = pytests(source, "--torr-compare", "main", *limits, "--torr-allow-not-shown")
    assert ended.code == 0
    # An operation took a second there: no machine is as slow as that.
    assert row(ended, "it") == "faster"
    assert "another machine" not in ended.out
    assert "ops < -50%: held" in ended.out
    # There each had a time of its own.
    told = r"p50 > \+50%: not shown: operations were timed in batches of different sizes: 1, "
    assert re.search(rf"{told}\d+", ended.out)
