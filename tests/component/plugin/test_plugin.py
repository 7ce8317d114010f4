"""The pytest plugin as its users meet it: fixtures, what is said and what is kept."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys

import pytest


def test_a_test_measures_and_reads_what_was_found(pytests):
    ended = pytests(
        """
        import time

        def test_it(measure):
            found = measure(lambda: time.sleep(0.001), n=20, rounds=3)
            # No sleep is shorter than asked for; how much longer it is is the machine's.
            assert 0 < found.ops_per_s < 1000
            assert found.p50_ms >= 1
            assert found.value("response_ms.p50") == found.p50_ms
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
    found = ended.result
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--torr-compare", "none"), "--torr-compare none: there is no such kept run"),
        (("--torr-fail-if", "p50 > +1%"), "--torr-fail-if is given without --torr-compare"),
        (("--torr-compare", "x", "--torr-fail-if", "p50 > 1"), "is not a signed percentage"),
        (("--torr-rounds", "0"), "--torr-rounds 0: there is at least one round"),
        (("--torr-save", "a/b"), "--torr-save 'a/b' cannot name files"),
        (("--torr-save", "a", "--torr-dir", "test_it.py"), "/test_it.py: is a file, not a"),
    ],
)
def test_what_cannot_be_done_is_said_and_ends_with_4(pytests, arguments, message):
    ended = pytests("def test_it(measure): measure(int, n=50)", *arguments)
    assert ended.code == 4
    assert message in ended.out
    assert "passed" not in ended.out


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
            stress(threading.Event().wait, threads=2, each=1, timeout=5)
        """
    )
    assert ended.counts == {"passed": 1, "failed": 1}
    assert "2 of 2 threads had not ended after 5 s" in ended.out
    assert "torr-stress-0:" in ended.out


def test_rounds_before_a_hang_are_kept(pytests):
    ended = pytests(
        """
        import threading

        def test_hangs(stress):
            calls = []

            def operation():
                calls.append(None)
                if len(calls) > 3:
                    threading.Event().wait(30)

            stress(operation, threads=1, each=1, timeout=5)
        """,
        *("--torr-save", "hung"),
    )
    assert ended.counts == {"failed": 1}
    assert [level["counts"]["ok"] for level in ended.result["levels"]] == [1, 1]


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


def test_whether_the_collector_ran_is_kept_and_said(pytests):
    source = """
        import gc

        def test_off(measure):
            measure(lambda: gc.isenabled() and 1 / 0, n=50, rounds=2)

        def test_on(measure):
            measure(lambda: gc.isenabled() or 1 / 0, n=50, rounds=2, gc="on")

        def test_threads(stress):
            stress(lambda: gc.isenabled() or 1 / 0, threads=2, each=5, rounds=2)

        def test_both(compare_functions):
            f = lambda: gc.isenabled() and 1 / 0
            compare_functions(a=f, b=f, n=50, rounds=2)
    """
    ended = pytests(source, "--torr-save", "mine")
    assert ended.counts == {"passed": 4}, ended.out
    found = {
        level["candidate"].partition("::test_")[2]: level["micro"]["gc"]
        for level in ended.result["levels"]
        if level["counts"]["errors"] == {}
    }
    off = dict.fromkeys(("off", "both::a", "both::b"), "off in rounds")
    assert found == {**off, "on": "on", "threads": "on"}
    told = "Python's collector on in rounds of 2 of the functions, off of 3"
    assert told in ended.out
    text = (ended.folder / "_output/torr/latest/summary.md").read_text()
    assert told in text
    assert re.search(r"taken off every time: \d+ ns for the clock, \d+\.\d ns a turn", text)


def test_a_policy_for_the_collector_that_is_none_is_refused(pytests):
    source = "def test_it(measure): measure(int, n=50, gc='perhaps')"
    assert "gc='perhaps': it is 'off' or 'on'" in pytests(source).out


@pytest.mark.parametrize("end", ["SystemExit", "asyncio.CancelledError"])
def test_what_ends_a_program_or_a_task_loses_no_round(pytests, end):
    ended = pytests(
        f"""
        import asyncio

        def ends(number):
            if number == 7:
                raise {end}

        def test_it(measure, compare_functions):
            found = measure(ends, n=10, rounds=3, given=int)
            assert list(found.errors.values()) == [3]
            levels = compare_functions(a=ends, b=str, n=10, rounds=2, given=int).levels
            assert [x["counts"]["ok"] for x in levels if x["candidate"] == "a"] == [9, 9]
        """
    )
    assert ended.counts == {"passed": 1}, ended.out
    assert f"{end.rpartition('.')[2]} × 3, the first of them:" in ended.out


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
    level = ended.result["levels"][0]
    assert level["counts"]["errors"] == {"check": 5}
    assert level["reasons"] == {"raised.KeyError": 5}
    assert "KeyError: 1" in level["samples"][0]["detail"]
    assert "test_it.py::test_it: KeyError × 10, the first of them:" in ended.out


def test_two_functions_are_compared_in_interleaved_rounds(pytests):
    ended = pytests(
        """
        import time

        def test_it(compare_functions):
            found = compare_functions(
                slow=lambda: time.sleep(0.02), fast=lambda: time.sleep(0.001), n=5
            )
            assert found.baseline == "slow"
            assert found.word("fast") == "better"
        """,
        *("--torr-save", "two"),
    )
    assert ended.counts == {"passed": 1}
    slow, fast = "test_it.py::test_it::slow", "test_it.py::test_it::fast"
    assert re.search(rf"^{fast} +{slow} .* faster", ended.out, re.MULTILINE)
    found = ended.result
    assert {level["candidate"] for level in found["levels"]} == {slow, fast}
    verdict = found["verdicts"][0]
    assert (verdict["candidate"], verdict["baseline"], verdict["word"]) == (fast, slow, "better")


def test_which_test_compared_functions_is_told_with_its_parameters(pytests):
    ended = pytests(
        """
        import pytest

        @pytest.mark.parametrize("size", [10, 20])
        def test_it(compare_functions, size):
            found = compare_functions(old=lambda: None, new=lambda: size, n=20, rounds=2)
            assert {verdict["candidate"] for verdict in found.verdicts} == {"new"}

        def test_more(compare_functions):
            compare_functions(old=lambda: None, new=lambda: 1, n=20, rounds=2)
        """,
        *("--torr-save", "which"),
    )
    assert ended.counts == {"passed": 3}
    of = [
        (each["candidate"], each["baseline"], each["factors"])
        for each in ended.result["verdicts"]
        if each["family"] == "primary"
    ]
    one, other = "test_it.py::test_it", "test_it.py::test_more"
    assert of == [
        (f"{one}::new", f"{one}::old", {"size": "10"}),
        (f"{one}::new", f"{one}::old", {"size": "20"}),
        (f"{other}::new", f"{other}::old", {}),
    ]
    assert f"{one}::new [size 20]" in ended.out


def test_parameters_are_told_apart_and_found_again(pytests):
    source = """
        import pytest

        class Codec:
            def __repr__(self):
                return "Codec()"

        def encode(): pass

        VALUES = [1, "1", 1.0, None, "None", "text", (1, "a"), encode, Codec(), Codec(), len]

        @pytest.mark.parametrize("value", VALUES)
        def test_it(measure, value):
            measure(int, n=50, rounds=1)
    """
    found = [
        [level["factors"]["value"] for level in ended.result["levels"]]
        for ended in (pytests(source, "--torr-save", name) for name in ("first", "second"))
    ]
    assert found[0] == found[1]
    assert len(set(found[0])) == 11
    plain = (found[0][at] for at in (0, 2, 3, 5, 6, 7, 10))
    assert list(plain) == ["1", "1.0", "None", "text", "(1, 'a')", "encode", "len"]


def test_a_profiler_that_is_missing_is_said_once_and_before_anything_runs(pytests, tmp_path):
    (tmp_path / "conftest.py").write_text("import sys; sys.modules['line_profiler'] = None")
    source = """
        def test_it(measure): measure(int, n=50)
        def test_other(measure): measure(int, n=50)
    """
    ended = pytests(source, "--torr-profile", "lines")
    assert ended.code == 4
    assert ended.out.count("line-profiler, which is not installed") == 1
    assert "passed" not in ended.out


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
