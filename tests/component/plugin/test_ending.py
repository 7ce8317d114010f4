"""Sessions that do not end as they should: what was measured until then is kept."""

from __future__ import annotations

import re
import shutil
import signal

import pytest

MEASURED = """
    import os, pathlib, signal, time

    def test_it(measure): measure(int, n=50, rounds=3)
    def test_two(compare_functions): compare_functions(old=int, new=int, n=50, rounds=2)
    def test_left(leaks): leaks(int, n=100)
    def test_end(): {end}
    def test_never(measure): measure(int, n=50, rounds=1)
"""
SLOW_DISK = """
    import os, time

    fsync = os.fsync

    def slow(descriptor):
        time.sleep(0.03)
        fsync(descriptor)

    os.fsync = slow
"""
NAMES = ["it"] * 3 + ["two::old"] * 2 + ["two::new"] * 2


def names(found):
    """The names of the functions that were kept, without their file."""
    return [level["candidate"].removeprefix("test_it.py::test_") for level in found["levels"]]


@pytest.mark.parametrize(
    ("disk", "end", "code"),
    [
        (SLOW_DISK, "os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
        ("", "os._exit(1)", 1),
        ("", "raise KeyboardInterrupt", 2),
    ],
    ids=["killed", "left", "interrupted"],
)
def test_what_was_measured_outlives_the_session(pytests, torr, disk, end, code):
    ended = pytests(disk + MEASURED.format(end=end), "--torr-save", "mine", "--torr-tag", "main")
    assert ended.code == code
    found = ended.result
    assert (found["kind"], found["name"], found["tags"]) == ("micro", "mine", ["main"])
    assert found["status"] == "interrupted"
    assert names(found) == NAMES
    assert [each["count"] for each in found["leaks"]] == [100]
    if code == 2:
        assert "as run 1" in ended.out
    else:
        torr("runs", "import", ended.kept)
        shown = torr("runs", "show", 1)
        assert "4 functions measured" in shown
        assert "test_it.py::test_two::new" in shown


@pytest.fixture(scope="module")
def before(sessions, module_folder):
    """The store with a run called main, which was kept."""
    source = "def test_it(measure): measure(int, n=50, rounds=6)"
    assert sessions.run(module_folder, source, "--torr-save", "main").code == 0
    return module_folder / "runs.db"


def test_the_earlier_run_is_read_once_and_what_is_measured_is_kept_without_the_store(
    pytests, before, tmp_path
):
    shutil.copy(before, tmp_path)
    end = "pathlib.Path('runs.db').write_text('no database')"
    compared = ("--torr-compare", "main", "--torr-save", "again")
    ended = pytests(MEASURED.format(end=end), *compared)
    assert re.search(r"^test_it\.py::test_it +run 1 ", ended.out, re.MULTILINE)
    found = ended.result
    assert (found["name"], found["status"]) == ("again", "complete")
    assert names(found) == [*NAMES, "never"]


def test_a_comparison_that_cannot_be_made_loses_nothing(pytests, before, tmp_path):
    shutil.copy(before, tmp_path)
    limits = ("--torr-compare", "main", "--torr-fail-if", "p50 > +10%")
    source = "def test_other(measure): measure(int, n=50, rounds=1)"
    ended = pytests(source, *limits, "--torr-save", "again")
    assert ended.code == 4
    assert ended.result["name"] == "again"
    assert names(ended.result) == ["other"]
    assert "as run 2" in ended.out


def test_what_became_unwritable_is_said_at_the_end_and_fails_no_test(pytests):
    source = """
        import pathlib, shutil

        def test_it(measure):
            shutil.rmtree("there")
            pathlib.Path("there").write_text("a file")
            measure(int, n=50, rounds=1)
    """
    ended = pytests(source, "--torr-save", "mine", "--torr-dir", "there")
    assert (ended.code, ended.counts) == (4, {"passed": 1})
    assert "/there: is a file, not a directory" in ended.out


def test_nothing_is_said_or_kept_where_nothing_was_measured(pytests):
    ended = pytests("def test_it(): pass", "--torr-save", "mine")
    assert (ended.code, ended.counts) == (0, {"passed": 1})
    assert "functions under load" not in ended.out
    assert list((ended.folder / "_output/torr").iterdir()) == []


def test_a_test_that_goes_elsewhere_leaves_the_run_where_it_was_asked_for(pytests):
    source = """
        def test_there(measure, monkeypatch, tmp_path):
            monkeypatch.chdir(tmp_path)
            measure(int, n=50, rounds=1)

        def test_here(measure): measure(int, n=50, rounds=2)
    """
    ended = pytests(source, "--torr-save", "mine")
    assert ended.code == 0
    assert [level["round"] for level in ended.result["levels"]] == [1, 1, 2]
    assert f"stored  _output/torr/{ended.kept.name} as run 1" in ended.out
