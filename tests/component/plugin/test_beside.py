"""pytest with --torr-compare: functions beside those of an earlier run, and limits of change."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import zlib
from contextlib import closing
from types import SimpleNamespace

import pytest

from installed import TORR
from torr.micro import machine
from torr.model.change import Change
from torr.plugin.beside import BASELINE, Baseline, set_beside
from torr.store.environment import environment

SLEEP = """
    import time

    def test_it(measure):
        measure(lambda: time.sleep({seconds}), n=30, rounds=6)
"""


def test_a_run_is_set_beside_an_earlier_one(pytests):
    pytests(SLEEP.format(seconds=0.005), "--torr-save", "main")
    limits = ("--torr-compare", "main", "--torr-fail-if", "p50 > +50%")
    ended = pytests(SLEEP.format(seconds=0.02), *limits, "--torr-fail-if", "ops < -5%")
    assert ended.code == 1
    assert ended.counts == {"passed": 1}
    assert re.search(r"test_it\.py::test_it +run 1 .* slower ", ended.out)
    assert "not interleaved: drift not excluded" in ended.out
    assert "p50 > +50%: it surely did" in ended.out
    ended = pytests(SLEEP.format(seconds=0.0001), *limits)
    assert ended.code == 0
    assert re.search(r"test_it\.py::test_it +run 1 .* faster ", ended.out)


def test_threads_are_set_beside_an_earlier_run_by_the_rounds_they_have_anyway(pytests):
    source = """
        import time

        def test_it(stress):
            stress(lambda: time.sleep({seconds}), threads=2, each=10)

        def test_other(stress):
            stress(lambda: time.sleep(0.001), threads=2, each=10)
    """
    pytests(source.format(seconds=0.002), "--torr-save", "main")
    limits = ("--torr-compare", "main", "--torr-fail-if", "ops < -50%")
    ended = pytests(source.format(seconds=0.03), *limits)
    assert (ended.code, ended.counts) == (1, {"passed": 2}), ended.out
    assert re.search(r"test_it\.py::test_it +run 1 .* slower ", ended.out)
    assert "test_it.py::test_it: ops < -50%: it surely did" in ended.out


def test_a_run_of_another_machine_is_scaled_by_what_is_known_of_both(pytests):
    kept = pytests(SLEEP.format(seconds=0.001), "--torr-save", "main")
    with closing(sqlite3.connect(kept.folder / "runs.db")) as base, base:
        ((packed,),) = base.execute("select json_zlib from results").fetchall()
        other = json.loads(zlib.decompress(packed))
        other["environment"]["machine"]["cpu"] = "another"
        packed = zlib.compress(json.dumps(other).encode())
        base.execute("update results set json_zlib = ?", (packed,))
    ended = pytests(SLEEP.format(seconds=0.02), "--torr-compare", "main", "--torr-rounds", "6")
    assert "the earlier run is of another machine: its numbers are scaled by" in ended.out
    assert re.search(r"test_it\.py::test_it +run 1 .* slower ", ended.out)


def test_what_cannot_be_judged_is_said(pytests):
    pytests("def test_it(measure): measure(int, n=50)", "--torr-save", "main")
    source = """
        def test_it(measure): measure(int, n=50)
        def test_new(measure): measure(int, n=50)
    """
    ended = pytests(source, "--torr-compare", "main", "--torr-fail-if", "p99 > +10%")
    assert ended.code == 0
    told = "p99 > +10%: cannot be told: too few operations in a trial for p99"
    assert f"test_it.py::test_it: {told}" in ended.out
    assert "not in run 1, and beside nothing: test_it.py::test_new" in ended.out


@pytest.mark.parametrize("change", ["renamed", "rootdir"])
def test_limits_of_what_was_compared_with_nothing_are_an_error(pytests, tmp_path, change):
    pytests("def test_it(measure): measure(int, n=50)", "--torr-save", "main")
    limits = ("--torr-compare", "main", "--torr-fail-if", "p50 > +10%")
    name = "test_it" if change == "rootdir" else "test_renamed"
    more = ("--rootdir", tmp_path.parent) if change == "rootdir" else ()
    source = f"def {name}(measure): measure(int, n=50)"
    ended = pytests(source, *limits, *more)
    assert ended.code == 4
    assert "nothing was compared, run 1 has none of these functions" in ended.out
    assert "it has test_it.py::test_it: run pytest with the --rootdir of then" in ended.out
    assert pytests(source, *limits[:2], *more).code == 0


def test_a_run_of_pytest_benchmark_on_this_machine_is_compared_as_any_other(pytests, tmp_path):
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
    store = {**os.environ, "TORR_STORE": f"sqlite:///{tmp_path}/runs.db"}
    imported = [TORR, "runs", "import", "main.json", "-n", "main"]
    subprocess.run(imported, cwd=tmp_path, env=store, check=True)
    limits = ("--torr-compare", "main", "--torr-fail-if", "ops < -50%")
    ended = pytests("def test_it(measure): measure(int, n=500)", *limits)
    assert ended.code == 0
    # An operation took a second there: no machine is as slow as that.
    assert re.search(r"test_it\.py::test_it +run 1 .* faster ", ended.out)
    assert "another machine" not in ended.out
    assert "ops < -50%: it surely did not" in ended.out
    # There each had a time of its own.
    limits = ("--torr-compare", "main", "--torr-fail-if", "p50 > +50%")
    ended = pytests("def test_it(measure): measure(int, n=500)", *limits)
    told = (
        r"p50 > \+50%: cannot be told: operations were timed in batches of different sizes: 1, \d+"
    )
    assert re.search(told, ended.out)


# Rounds of a function, of which 2.2 % more are a word with p = 0.043.
SPREAD = (0.97, 1.03, 0.98, 1.02, 0.99, 1.01, 0.975, 1.025, 0.985, 1.015)


def rounds_of(name, factor=1.0, **factors):
    counts = {"attempted": 1000, "ok": 1000, "dropped": 0, "in_flight": 0, "errors": {}}
    return [
        {
            "candidate": name,
            "factors": factors,
            "round": number,
            "concurrency": 1,
            "rate": None,
            "counts": counts,
            "ok_per_s": 1000.0 * factor * spread,
            "latency": {"response_ms": {"n": 1000, "p50": 1 / (factor * spread)}},
            "health": {"verdict": "healthy", "reasons": []},
        }
        for number, spread in enumerate(SPREAD, 1)
    ]


def beside(before, now, *, here=None, speed=None):
    """A session after it was set beside an earlier run."""
    result = {"levels": before, "environment": here or environment(), "machine_speed": speed}
    stash = pytest.Stash()
    stash[BASELINE] = Baseline(1, result, (Change.parse("p50 < +30%"),))
    config = SimpleNamespace(stash=stash)
    session = SimpleNamespace(config=config, levels=now, against=[], limits=[], said=[])
    set_beside(session)
    return session


def words(session, family="primary"):
    found = [each for each in session.against if each["family"] == family]
    return {(each["candidate"], *each["factors"].values()): each["word"] for each in found}


def test_one_function_that_differs_by_chance_has_a_word_alone_and_none_among_many():
    alone = beside(rounds_of("f"), rounds_of("f", 1.022))
    assert words(alone) == {("f",): "better"}
    others = [level for at in range(9) for level in rounds_of("g", size=f"{at}")]
    many = beside([*rounds_of("f"), *others], [*rounds_of("f", 1.022), *others])
    assert len(words(many)) == 10
    for family in ("primary", "secondary"):
        assert "better" not in words(many, family).values()
    first = many.against[0]
    assert (first["candidate"], first["factors"], first["baseline"]) == ("f", {}, "run 1")
    assert first["p"] == alone.against[0]["p"] == pytest.approx(0.043, abs=0.001)
    assert first["p_adjusted"] == pytest.approx(10 * first["p"])


def test_one_that_surely_differs_has_its_word_among_many():
    others = [level for at in range(9) for level in rounds_of("g", size=f"{at}")]
    found = beside([*rounds_of("f"), *others], [*others, *rounds_of("f", 1.5)])
    assert words(found).pop(("f",)) == "better"
    limits = [(each["candidate"], each["factors"].get("size")) for each in found.limits]
    assert limits == [*(("g", f"{at}") for at in range(9)), ("f", None)]


def test_functions_of_another_machine_are_judged_together_too():
    other = {"machine": {"cpu": "another"}}
    now = [*rounds_of("f", 4.0), *rounds_of("g", 2.0, size="9")]
    before = [*rounds_of("f"), *rounds_of("g", size="9"), *rounds_of("gone")]
    speed = machine.speed().as_json()
    slower = {key: value / 2 for key, value in dict.fromkeys(speed, speed["median"]).items()}
    found = beside(before, now, here=other, speed=slower)
    assert set(words(found)) == {("f",), ("g", "9")}
    factor = found.against[0]["ratio"]
    assert factor == pytest.approx(2.0, rel=0.01)
    assert len([said for said in found.said if "another machine" in said]) == 1
    unknown = beside(before, now, here=other)
    assert set(words(unknown).values()) == {"inconclusive"}


def test_a_percentile_that_neither_side_has_is_in_no_verdict():
    times = {"latency": {"response_ms": {"n": 1000, "p50": 1.0, "p99": 2.0}}}
    with_p99 = [{**level, **times} for level in rounds_of("f")]
    found = beside([*with_p99, *rounds_of("g")], [*with_p99, *rounds_of("g")])
    metrics = [(each["candidate"], each["metric"]) for each in found.against]
    assert metrics == [
        *(("f", "ok_per_s"), ("f", "response_ms.p50"), ("f", "response_ms.p99")),
        *(("g", "ok_per_s"), ("g", "response_ms.p50")),
    ]
