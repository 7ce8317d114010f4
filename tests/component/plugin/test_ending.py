"""Sessions that do not end as they should: what was measured until then is kept."""

from __future__ import annotations

import json
import os
import re
import subprocess

import pytest

from installed import TORR

MEASURED = """
    import os, pathlib, signal

    def test_it(measure): measure(int, n=50, rounds=3)
    def test_two(compare_functions): compare_functions(old=int, new=int, n=50, rounds=2)
    def test_end(): {end}
    def test_never(measure): measure(int, n=50, rounds=1)
"""


def kept(ended):
    folder = (ended.folder / "_output/torr/latest").resolve()
    return folder, json.loads((folder / "result.json").read_text())


@pytest.mark.parametrize(
    "end", ["os.kill(os.getpid(), signal.SIGKILL)", "os._exit(1)", "raise KeyboardInterrupt"]
)
def test_what_was_measured_outlives_the_session(pytests, end):
    ended = pytests(MEASURED.format(end=end), "--torr-save", "mine", "--torr-tag", "main")
    assert ended.code != 0
    folder, found = kept(ended)
    assert (found["kind"], found["name"], found["tags"]) == ("micro", "mine", ["main"])
    assert found["status"] == "interrupted"
    base = "test_it.py::test_"
    names = [level["candidate"] for level in found["levels"]]
    assert names == [f"{base}it"] * 3 + [f"{base}two::old"] * 2 + [f"{base}two::new"] * 2
    environment = {**os.environ, "TORR_STORE": f"sqlite:///{ended.folder}/again.db"}
    for command in (("import", folder), ("show", 1)):
        shown = subprocess.run(
            [TORR, "runs", *map(str, command)],
            capture_output=True,
            text=True,
            env=environment,
            check=True,
        )
    assert "3 functions measured" in shown.stdout
    assert "test_it.py::test_two::new" in shown.stdout


def test_what_was_measured_is_kept_on_a_slow_disk_too(pytests):
    slow = """
    import os, time

    _fsync = os.fsync

    def _slow(descriptor):
        time.sleep(0.1)
        _fsync(descriptor)

    os.fsync = _slow
    """
    killed = MEASURED.format(end="os.kill(os.getpid(), signal.SIGKILL)")
    ended = pytests(slow + killed, "--torr-save", "mine")
    levels = kept(ended)[1]["levels"]
    assert [level["candidate"].rpartition("_")[2] for level in levels] == (
        ["it"] * 3 + ["two::old"] * 2 + ["two::new"] * 2
    )


def test_a_session_that_was_interrupted_is_registered_as_such(pytests):
    ended = pytests(MEASURED.format(end="raise KeyboardInterrupt"), "--torr-save", "mine")
    assert ended.code == 2
    assert "as run 1" in ended.out


def test_the_earlier_run_is_read_once_and_what_is_measured_is_kept_without_the_store(pytests):
    pytests(MEASURED.format(end="pass"), "--torr-save", "main")
    end = "pathlib.Path('runs.db').write_text('no database')"
    ended = pytests(MEASURED.format(end=end), *("--torr-compare", "main", "--torr-save", "again"))
    assert re.search(r"^test_it\.py::test_it +run 1 ", ended.out, re.MULTILINE)
    _, found = kept(ended)
    assert (found["name"], found["status"]) == ("again", "complete")
    assert {level["candidate"] for level in found["levels"]} == {
        f"test_it.py::test_{name}" for name in ("it", "two::old", "two::new", "never")
    }


def test_a_comparison_that_cannot_be_made_loses_nothing(pytests):
    pytests("def test_before(measure): measure(int, n=50, rounds=6)", "--torr-save", "main")
    limits = ("--torr-compare", "main", "--torr-fail-if", "p50 > +10%")
    ended = pytests(MEASURED.format(end="pass"), *limits, "--torr-save", "again")
    assert ended.code == 4
    assert kept(ended)[1]["name"] == "again"
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


def test_nothing_is_kept_where_nothing_was_measured(pytests):
    ended = pytests("def test_it(): pass", "--torr-save", "mine")
    assert ended.code == 0
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
    folder, found = kept(ended)
    assert [level["round"] for level in found["levels"]] == [1, 1, 2]
    assert f"kept    _output/torr/{folder.name} as run 1" in ended.out


def test_what_was_watched_for_leaks_is_kept_at_once(pytests):
    source = """
        import os

        def test_it(leaks): leaks(int, n=100)
        def test_end(): os._exit(1)
    """
    _, found = kept(pytests(source, "--torr-save", "mine"))
    assert [each["count"] for each in found["leaks"]] == [100]
