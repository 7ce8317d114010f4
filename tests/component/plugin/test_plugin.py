"""The pytest plugin as its users meet it: fixtures, what is said and what is kept."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys

import pytest


def test_a_test_measures_and_reads_what_was_found(installed_pytest):
    ended = installed_pytest(
        """
        import time

        def test_it(measure):
            found = measure(lambda: time.sleep(0.001), n=20, rounds=3)
            assert found.ops_per_s > 0
            assert found.value("response_ms.p50") == found.p50_ms
            assert found.p99_ms is None
            assert found.errors == {}
        """
    )
    assert ended.counts == {"passed": 1}, ended.out
    assert "torr: functions under load" in ended.out
    assert "ns for the clock" in ended.out
    row = next(line for line in ended.out.splitlines() if line.startswith("test_it.py::test_it "))
    assert row.split()[1:3] == ["1", "3"]
    assert not (ended.folder / "_output").exists()
    assert not (ended.folder / "runs.db").exists()


def test_rates_and_percentiles_are_those_of_the_operations(pytests):
    ended = pytests(
        """
        import pytest
        from simulated_clock import SimulatedClock

        clock = SimulatedClock.installed()

        def test_it(measure):
            seconds = [0.001] * 985 + [0.1] * 15
            found = measure(clock.advance, n=1000, rounds=2, inputs=seconds)
            assert found.ops_per_s == pytest.approx(1000 / sum(seconds), rel=0.02)
            assert found.p50_ms == pytest.approx(1, rel=0.02)
            assert found.p99_ms == pytest.approx(100, rel=0.02)

        def test_two(compare_functions):
            found = compare_functions(
                slow=lambda: clock.advance(0.02), fast=lambda: clock.advance(0.001), n=5
            )
            assert found.baseline == "slow"
            assert found.word("fast") == "better"
        """,
        *("--torr-save", "two"),
    )
    assert ended.counts == {"passed": 2}, ended.out
    slow, fast = "test_it.py::test_two::slow", "test_it.py::test_two::fast"
    assert re.search(rf"^{fast} +{slow} .* faster", ended.out, re.MULTILINE)
    levels = ended.result["levels"]
    assert {level["candidate"] for level in levels} == {slow, fast, "test_it.py::test_it"}
    verdict = ended.result["verdicts"][0]
    assert (verdict["candidate"], verdict["baseline"], verdict["word"]) == (fast, slow, "better")


def test_parameters_are_factors_and_functions_have_names(pytests):
    ended = pytests(
        """
        import pytest

        @pytest.mark.parametrize("size", [10, 100])
        def test_it(measure, size):
            measure(lambda: sorted(range(size)), n=50, rounds=2)
            measure(lambda: list(range(size)), n=50, rounds=2)
            measure(lambda: None, n=50, rounds=2, name="nothing")

        @pytest.mark.parametrize("size", [10, 20])
        def test_compared(compare_functions, size):
            found = compare_functions(old=lambda: None, new=lambda: size, n=20, rounds=2)
            assert {verdict.candidate for verdict in found.verdicts} == {"new"}

        def test_more(compare_functions):
            compare_functions(old=lambda: None, new=lambda: 1, n=20, rounds=2)
        """,
        *("--torr-save", "sorts", "--torr-note", "a note", "--torr-tag", "main"),
    )
    assert ended.counts == {"passed": 5}, ended.out
    kept = ended.result
    assert (kept["kind"], kept["name"], kept["note"], kept["tags"]) == (
        *("micro", "sorts", "a note", ["main"]),
    )
    measured = [level for level in kept["levels"] if "::test_it" in level["candidate"]]
    names = {(level["candidate"], level["factors"]["size"]) for level in measured}
    base = "test_it.py::test_it"
    assert names == {
        (name, size) for name in (base, f"{base} #2", f"{base}::nothing") for size in ("10", "100")
    }
    assert {level["round"] for level in measured} == {1, 2}
    assert all(level["counts"]["attempted"] == level["counts"]["ok"] for level in measured)
    compared, other = "test_it.py::test_compared", "test_it.py::test_more"
    assert [
        (each["candidate"], each["baseline"], each["factors"])
        for each in kept["verdicts"]
        if each["family"] == "primary"
    ] == [
        (f"{compared}::new", f"{compared}::old", {"size": "10"}),
        (f"{compared}::new", f"{compared}::old", {"size": "20"}),
        (f"{other}::new", f"{other}::old", {}),
    ]
    assert f"{compared}::new [size 20]" in ended.out
    assert "as run 1" in ended.out
    with sqlite3.connect(ended.folder / "runs.db") as store:
        assert store.execute("SELECT name, kind FROM runs").fetchall() == [("sorts", "micro")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--torr-compare", "none"), "there is no store at"),
        (("--torr-fail-if", "p50 > +1%"), "--torr-fail-if is given without --torr-compare"),
        (("--torr-compare", "x", "--torr-fail-if", "p50 > 1"), "is not a signed percentage"),
        (("--torr-rounds", "0"), "--torr-rounds 0: at least one round is needed"),
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
        import threading

        def test_it(stress):
            found = stress(lambda: None, threads=4, per_thread=50)
            assert found.levels[0].concurrency == 4
            assert found.levels[0].counts.attempted == 200

        def test_hangs(stress):
            calls = []

            def operation():
                calls.append(None)
                if len(calls) > 4:
                    threading.Event().wait()

            stress(operation, threads=2, per_thread=1, timeout=3)
        """,
        *("--torr-save", "hung"),
    )
    assert ended.counts == {"passed": 1, "failed": 1}
    assert "2 of 2 threads had not ended after 3 s" in ended.out
    assert "torr-stress-0:" in ended.out
    # Rounds before it are kept.
    kept = [x["counts"]["ok"] for x in ended.result["levels"] if "hangs" in x["candidate"]]
    assert kept == [2]


def test_whether_the_collector_ran_is_kept_and_said(pytests):
    source = """
        import gc

        def test_off(measure):
            measure(lambda: gc.isenabled() and 1 / 0, n=50, rounds=2)

        def test_on(measure):
            measure(lambda: gc.isenabled() or 1 / 0, n=50, rounds=2, gc="on")

        def test_threads(stress):
            stress(lambda: gc.isenabled() or 1 / 0, threads=2, per_thread=5, rounds=2)

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
    told = "Python's garbage collector on in rounds of 2 of the functions, off in those of 3"
    assert told in ended.out
    text = (ended.kept / "summary.md").read_text()
    assert told in text
    assert re.search(r"subtracted from every time: \d+ ns for the clock, \d+\.\d ns a turn", text)


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
    levels = pytests(source, "--torr-save", "first").result["levels"]
    # The same in every process: nothing of it is an address.
    assert [level["factors"]["value"] for level in levels] == [
        *("1", "'1'", "1.0", "None", "'None'", "text", "(1, 'a')"),
        *("encode", "value8", "value9", "len"),
    ]


def test_a_worker_of_xdist_does_not_measure(installed_pytest):
    pytest.importorskip("xdist")
    source = "def test_it(measure): measure(int)\ndef test_other(): pass"
    ended = installed_pytest(source, "-n", "1")
    assert ended.counts == {"passed": 1, "error": 1}
    assert "torr does not measure in a worker of pytest-xdist" in ended.out


def test_unused_it_imports_nothing_of_torr_but_itself():
    code = "import sys, torr.plugin; print(*(m for m in sys.modules if m.startswith('torr')))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(out.stdout.split()) == {"torr", "torr.plugin"}
