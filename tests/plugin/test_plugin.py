"""The pytest plugin as its users meet it: fixtures, budgets, what is said and what is kept."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
import zlib
from contextlib import closing

import pytest


def result_of(ended):
    return json.loads((ended.folder / "_output/torr/latest/result.json").read_text())


def test_a_test_measures_and_reads_what_was_found(pytests):
    ended = pytests(
        """
        import time

        def test_it(measure):
            found = measure(lambda: time.sleep(0.001), n=20, rounds=3)
            assert 100 < found.ops_per_s < 1000
            assert 1 <= found.p50_ms < 10
            assert found.p99_ms is None
            assert found.errors == {}
        """
    )
    assert ended.counts == {"passed": 1}
    assert "torr: functions under load" in ended.out
    assert "ns for the clock" in ended.out
    row = next(line for line in ended.out.splitlines() if line.startswith("test_it.py::test_it "))
    assert row.split()[1:3] == ["1", "3"]


def test_nothing_is_said_where_nothing_was_measured(pytests):
    ended = pytests("def test_it(): pass")
    assert ended.counts == {"passed": 1}
    assert "functions under load" not in ended.out


BUDGETS = """
    import pytest, time

    def sleeps():
        time.sleep(0.002)

    @pytest.mark.budget(ops=">10/s", p50="<1s", errors="<1%")
    def test_met(measure):
        measure(sleeps, n=30, rounds=6)

    @pytest.mark.budget(ops=">100k/s", p50="<0.1ms")
    def test_missed(measure):
        measure(sleeps, n=30, rounds=6)

    @pytest.mark.budget(p99="<1s")
    def test_untold(measure):
        measure(sleeps, n=5, rounds=6)
"""


def test_a_budget_that_is_surely_broken_fails_its_test(pytests):
    ended = pytests(BUDGETS)
    assert (ended.code, ended.counts) == (1, {"failed": 1, "passed": 2})
    assert "budget missed:" in ended.out
    assert "test_it.py::test_missed: ops >100k/s, measured" in ended.out
    rows = [line for line in ended.out.splitlines() if "::test_" in line and " >" in line]
    words = {line.split()[0].rpartition("_")[2]: line.split()[-1] for line in rows}
    assert words["met"] == "met"
    assert words["missed"] == "missed"
    assert "cannot be told: too few operations for p99" in ended.out


def test_budgets_may_be_reported_only(pytests):
    ended = pytests(BUDGETS, "--torr-budgets", "report")
    assert (ended.code, ended.counts) == (0, {"passed": 3})
    assert "missed" in ended.out


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        ('ops=">>1"', "ops='>>1'"),
        ('p99="fast"', "p99='fast'"),
        ('speed="<1ms"', "speed='<1ms'"),
        ("ops=1000", "ops=1000 is no text"),
        ('ops=">1", scale="laptop"', "scale='laptop' is no scale"),
        ('scale="machine"', "a budget without a limit"),
        ('">1k/s"', "limits have names"),
        ('ttft_p50="<1ms"', "is no budget of a function"),
    ],
)
def test_a_budget_that_cannot_be_read_is_named_with_its_line(pytests, marks, message):
    ended = pytests(
        f"""
        import pytest

        @pytest.mark.budget({marks})
        def test_it(measure):
            measure(int)
        """
    )
    assert ended.code == 4
    assert "test_it.py:4: " in ended.out
    assert message in ended.out
    assert "write ops=" in ended.out


def test_a_budget_of_a_test_that_measures_nothing_fails(pytests):
    ended = pytests(
        """
        import pytest

        @pytest.mark.budget(ops=">1/s")
        def test_it(measure):
            pass
        """
    )
    assert ended.counts == {"failed": 1}
    assert "it has a budget, and measured nothing" in ended.out


def test_a_budget_may_be_scaled_by_the_machine(pytests):
    ended = pytests(
        """
        import pytest

        @pytest.mark.budget(ops=">1/s", scale="machine")
        def test_it(measure):
            measure(lambda: sorted(range(100)), n=100, rounds=6)
        """,
        *("--torr-save", "scaled"),
    )
    assert ended.code == 0
    assert "ops >1/s, here " in ended.out
    found = result_of(ended)
    (budget,) = found["budgets"]
    assert budget["limit"] == pytest.approx(found["machine_speed"]["median"])


def test_parameters_are_factors_and_functions_have_names(pytests):
    ended = pytests(
        """
        import pytest

        @pytest.mark.parametrize("size", [10, 100])
        def test_it(measure, size):
            measure(lambda: sorted(range(size)), n=50, rounds=2)
            measure(lambda: list(range(size)), n=50, rounds=2)
            measure(lambda: None, n=50, rounds=2, name="nothing")
        """,
        *("--torr-save", "sorts", "--torr-note", "a note", "--torr-tag", "main"),
    )
    found = result_of(ended)
    assert (found["kind"], found["name"], found["note"], found["tags"]) == (
        *("micro", "sorts", "a note", ["main"]),
    )
    names = {(level["candidate"], level["factors"]["size"]) for level in found["levels"]}
    base = "test_it.py::test_it"
    assert names == {
        (name, size) for name in (base, f"{base} #2", f"{base}::nothing") for size in ("10", "100")
    }
    assert {level["round"] for level in found["levels"]} == {1, 2}
    assert all(level["counts"]["attempted"] == level["counts"]["ok"] for level in found["levels"])


def test_what_is_kept_is_registered(pytests):
    ended = pytests("def test_it(measure): measure(int, n=50)", "--torr-save", "kept")
    assert "as run 1" in ended.out
    with sqlite3.connect(ended.folder / "runs.db") as store:
        assert store.execute("SELECT name, kind FROM runs").fetchall() == [("kept", "micro")]


def test_nothing_is_kept_unless_asked_for(pytests):
    ended = pytests("def test_it(measure): measure(int, n=50)")
    assert not (ended.folder / "_output").exists()
    assert not (ended.folder / "runs.db").exists()


SLEEP = """
    import time

    def test_it(measure):
        measure(lambda: time.sleep({seconds}), n=30, rounds=6)
"""


def test_a_run_is_set_beside_an_earlier_one(pytests):
    pytests(SLEEP.format(seconds=0.001), "--torr-save", "main")
    limits = ("--torr-compare", "main", "--torr-fail-if", "p50 > +50%")
    ended = pytests(SLEEP.format(seconds=0.01), *limits, "--torr-fail-if", "ops < -5%")
    assert ended.code == 1
    assert ended.counts == {"passed": 1}
    assert re.search(r"test_it\.py::test_it +run 1 .* slower ", ended.out)
    assert "not interleaved: drift not excluded" in ended.out
    assert "p50 > +50%: it surely did" in ended.out
    ended = pytests(SLEEP.format(seconds=0.0001), *limits)
    assert ended.code == 0
    assert re.search(r"test_it\.py::test_it +run 1 .* faster ", ended.out)


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--torr-compare", "none"), "--torr-compare none: there is no such kept run"),
        (("--torr-fail-if", "p50 > +1%"), "--torr-fail-if is given without --torr-compare"),
        (("--torr-compare", "x", "--torr-fail-if", "p50 > 1"), "is not a signed percentage"),
        (("--torr-rounds", "0"), "--torr-rounds 0: there is at least one round"),
        (("--torr-save", "a/b"), "--torr-save 'a/b' cannot name files"),
        (("--torr-save", "a", "--torr-dir", "test_it.py"), "--torr-dir test_it.py"),
    ],
)
def test_what_cannot_be_done_is_said_and_ends_with_4(pytests, arguments, message):
    ended = pytests("def test_it(measure): measure(int, n=50)", *arguments)
    assert ended.code == 4
    assert message in ended.out


def test_threads_are_stressed_and_a_hang_fails_with_stacks(pytests):
    ended = pytests(
        """
        import threading, pytest

        @pytest.mark.budget(ops=">10/s")
        def test_it(stress):
            found = stress(lambda: None, threads=4, each=50)
            assert found.levels[0]["concurrency"] == 4
            assert found.levels[0]["counts"]["attempted"] == 200

        def test_hangs(stress):
            stress(threading.Event().wait, threads=2, each=1, timeout=0.2)
        """
    )
    assert ended.counts == {"passed": 1, "failed": 1}
    assert "2 of 2 threads had not ended after 0.2 s" in ended.out
    assert "torr-stress-0:" in ended.out


def test_what_is_wrong_with_an_option_is_said_before_anything_is_measured(pytests):
    ended = pytests("def test_it(measure): measure(int, n=50)", "--torr-compare", "none")
    assert ended.code == 4
    assert "1 passed" not in ended.out


@pytest.mark.parametrize(
    "call", ["measure(f, n=300, given=int)", "compare_functions(a=f, b=f, n=300, given=int).levels"]
)
def test_operations_that_raise_are_counted_one_by_one_however_fast_they_are(pytests, call):
    ended = pytests(
        f"""
        def f(number):
            if number % 3 == 0:
                raise ValueError(number)

        def test_it(measure, compare_functions):
            found = {call}
            levels = getattr(found, "levels", found)
            assert {{x["counts"]["attempted"] for x in levels}} == {{300}}
            assert {{x["counts"]["ok"] for x in levels}} == {{200}}
        """
    )
    assert ended.counts == {"passed": 1}, ended.out


def test_errors_are_counted_and_shown(pytests):
    ended = pytests(
        """
        def test_it(measure):
            def fails(number):
                if number % 2:
                    raise KeyError(number)
            found = measure(fails, n=10, rounds=2, given=int)
            assert found.errors == {"KeyError": 10}
        """,
        *("--torr-save", "errors"),
    )
    assert ended.counts == {"passed": 1}
    level = result_of(ended)["levels"][0]
    assert level["counts"]["errors"] == {"check": 5}
    assert level["reasons"] == {"raised.KeyError": 5}
    assert "KeyError: 1" in level["samples"][0]["detail"]


def test_leaks_fail_with_what_grew_and_where(pytests):
    ended = pytests(
        """
        kept = []

        def test_leaks(leaks):
            leaks(lambda: kept.append([1]), n=1000)

        def test_within(leaks):
            found = leaks(lambda: kept.append([1]), n=1000, max_growth=5000)
            assert found.growth >= 990

        def test_clean(leaks):
            assert leaks(lambda: [1], n=1000).word == "no growth"
        """,
        *("--torr-save", "leaks"),
    )
    assert ended.counts == {"passed": 2, "failed": 1}
    assert "each operation leaves" in ended.out
    assert "builtins.list" in ended.out
    assert "test_it.py:5" in ended.out
    assert [each["word"] for each in result_of(ended)["leaks"]] == [
        *("growth that goes on", "growth that goes on", "no growth")
    ]


def test_two_functions_are_compared_in_interleaved_rounds(pytests):
    ended = pytests(
        """
        import time

        def test_it(compare_functions):
            found = compare_functions(
                slow=lambda: time.sleep(0.004), fast=lambda: time.sleep(0.001), n=5
            )
            assert found.baseline == "slow"
            assert found.word("fast") == "better"
        """,
        *("--torr-save", "two"),
    )
    assert ended.counts == {"passed": 1}
    assert re.search(r"^fast +slow .* faster", ended.out, re.MULTILINE)
    found = result_of(ended)
    assert {level["candidate"] for level in found["levels"]} == {
        *("test_it.py::test_it::slow", "test_it.py::test_it::fast")
    }
    assert found["verdicts"][0]["word"] == "better"


def test_a_worker_of_xdist_does_not_measure(pytests):
    pytest.importorskip("xdist")
    source = "def test_it(measure): measure(int)\ndef test_other(): pass"
    ended = pytests(source, "-n", "1")
    assert ended.counts == {"passed": 1, "error": 1}
    assert "torr does not measure in a worker of pytest-xdist" in ended.out


def test_unused_it_imports_nothing_of_torr_but_itself():
    code = "import sys, torr.plugin; print(*(m for m in sys.modules if m.startswith('torr')))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(out.stdout.split()) == {"torr", "torr.plugin"}
