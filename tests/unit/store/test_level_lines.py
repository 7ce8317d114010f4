"""What a run has finished is a line on disk at once, and in result.json when a command reads it."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

import torr
import typed
from doubles import Truth, interval_of, level_of
from torr.cli.runs import importing
from torr.errors import OutputError, UsageError
from torr.planning.diff_sides import load
from torr.results.functions import LeakTable
from torr.results.monitor import MonitorSeries
from torr.results.result import Conclusions, RunHead, TrialFailure, read
from torr.store import level_lines, rundir
from torr.store.level_lines import recover
from torr.store.rundir import RunDirectory

LEVELS = 30
FAILURE = TrialFailure(candidate="b", round=1, kind="died", text="it ended")


def measure(run, count, first=1, intervals=2):
    for users in range(first, first + count):
        for second in range(intervals):
            run.keep_interval(typed.engine_interval({"level": 0, **interval_of(Truth(), second)}))
        run.keep_level(typed.engine_level(level_of(users, Truth())))


@pytest.fixture
def run(tmp_path):
    with RunDirectory.create(tmp_path / "runs", "matrix", RunHead(kind="compare")) as made:
        yield made


@pytest.fixture
def killed(run, tmp_path):
    """The directory of a run of 30 levels and a failure, as a kill leaves it."""
    measure(run, LEVELS - 1)
    run.keep_failure(FAILURE)
    measure(run, 1, first=LEVELS)
    return shutil.copytree(run.path, tmp_path / "killed")


def leak_table(candidate):
    return LeakTable(
        candidate=candidate,
        count=100,
        samples=[],
        types=[],
        locations=[],
        growth=0,
        per_operation=0.0,
        word="no growth",
        met=True,
    )


def users_of(folder):
    result = json.loads((folder / "result.json").read_text())
    return [level["concurrency"] for level in result["levels"]]


def test_what_is_written_grows_with_the_number_of_levels(tmp_path, monkeypatch):
    written = []

    @contextmanager
    def counting(path):
        with replacing(path) as file:
            yield file
            written.append(file.tell())

    replacing = rundir.replacing
    monkeypatch.setattr(rundir, "replacing", counting)

    def bytes_of(count):
        written.clear()
        with RunDirectory.create(tmp_path, "matrix", RunHead(kind="compare")) as run:
            measure(run, count)
            lines = (run.path / "levels.jsonl").stat().st_size
            run.close("complete")
        assert written
        return sum(written) + lines

    # Six times as much for four times the levels; it would be sixteen times if it were squared.
    assert bytes_of(160) < 6 * bytes_of(40)


def test_what_all_so_far_comes_to_is_in_the_lines(run, tmp_path):
    measure(run, LEVELS)
    tables = [leak_table(candidate="one"), leak_table(candidate="two")]
    run.keep_levels([], Conclusions(leaks=tables[:1]))
    run.keep_levels([], Conclusions(leaks=tables))
    killed = shutil.copytree(run.path, tmp_path / "killed")
    result = read(recover(killed))
    assert result.leaks == tables
    assert len(result.levels) == LEVELS


def test_the_last_conclusions_are_kept_in_a_run_that_is_left_without_an_end(tmp_path):
    tables = [leak_table(candidate="one")]
    with RunDirectory.create(tmp_path, "functions", RunHead(kind="micro")) as run:
        measure(run, LEVELS)
        run.keep_levels([], Conclusions(leaks=tables))
    assert read(run.result_path).leaks == tables


def test_a_level_is_on_disk_before_the_next_one_begins(run, monkeypatch):
    synced = []

    def fsync(descriptor):
        synced.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        real(descriptor)

    measure(run, LEVELS)
    real = os.fsync
    monkeypatch.setattr(os, "fsync", fsync)
    measure(run, 1)
    assert synced == [str(run.path / name) for name in ("intervals.jsonl", "levels.jsonl")]
    lines = (run.path / "levels.jsonl").read_text().splitlines()
    assert json.loads(lines[-1])["level"]["concurrency"] == 1


def test_a_run_that_is_over_leaves_no_lines(run):
    measure(run, LEVELS)
    run.close("complete")
    assert users_of(run.path) == [*range(1, LEVELS + 1)]
    assert not (run.path / "levels.jsonl").exists()


def test_an_error_that_ends_a_run_leaves_all_levels_in_its_result(tmp_path):
    def fails():
        with RunDirectory.create(tmp_path, "matrix", RunHead(kind="compare")) as run:
            measure(run, LEVELS)
            raise RuntimeError(run.path.name)

    with pytest.raises(RuntimeError) as error:
        fails()
    folder = tmp_path / str(error.value)
    assert users_of(folder) == [*range(1, LEVELS + 1)]
    assert not (folder / "levels.jsonl").exists()


def test_a_killed_run_misses_a_fifth_of_its_levels_at_most(killed):
    assert 0.8 * LEVELS <= len(users_of(killed)) < LEVELS


def test_a_killed_run_gets_its_last_levels_with_their_intervals(killed, run):
    assert recover(killed) == killed / "result.json"
    result = read(killed / "result.json")
    assert result.levels == run.full_levels()
    assert result.failures == [FAILURE]
    assert (result.status, result.name) == ("interrupted", "matrix")
    assert not (killed / "levels.jsonl").exists()


def test_lines_that_are_in_the_result_already_change_nothing(killed):
    lines = (killed / "levels.jsonl").read_bytes()
    recover(killed)
    once = (killed / "result.json").read_bytes()
    (killed / "levels.jsonl").write_bytes(lines)
    recover(killed)
    assert (killed / "result.json").read_bytes() == once


def test_more_about_a_level_replaces_what_was_known(run, tmp_path):
    measure(run, LEVELS)
    more = {**level_of(LEVELS, Truth()), "monitor": {"t_s": [1.0]}}
    run.replace_level(typed.engine_level(more))
    killed = shutil.copytree(run.path, tmp_path / "killed")
    levels = read(recover(killed)).levels
    assert len(levels) == LEVELS
    assert levels[-1].monitor == MonitorSeries(t_s=[1.0])
    assert len(levels[-1].intervals) == 2


def test_a_run_that_was_killed_before_it_had_a_result_gets_one(killed):
    (killed / "result.json").unlink()
    recover(killed)
    assert users_of(killed) == [*range(1, LEVELS + 1)]
    assert json.loads((killed / "result.json").read_text())["kind"] == "compare"


def test_half_a_line_is_left_out(killed):
    lines = (killed / "levels.jsonl").read_bytes()
    (killed / "levels.jsonl").write_bytes(lines[:-10])
    recover(killed)
    assert users_of(killed) == [*range(1, LEVELS)]


def test_a_kill_amid_the_first_line_costs_nothing_else(killed):
    lines = (killed / "levels.jsonl").read_bytes()
    (killed / "levels.jsonl").write_bytes(lines[:10])
    before = (killed / "result.json").read_bytes()
    recover(killed)
    assert (killed / "result.json").read_bytes() == before


def test_a_run_that_goes_on_is_left_alone(run):
    measure(run, LEVELS)
    before = (run.path / "result.json").read_bytes()
    recover(run.path)
    assert (run.path / "result.json").read_bytes() == before
    assert (run.path / "levels.jsonl").exists()


def test_a_result_that_cannot_be_written_is_an_error_and_the_lines_stay(killed, monkeypatch):
    def full(_path, _content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(level_lines, "replace_bytes", full)
    with pytest.raises(OutputError, match=r"levels\.jsonl has levels .*No space left on device"):
        recover(killed)
    assert (killed / "levels.jsonl").exists()


@pytest.mark.parametrize("text", ["{}\n", "[]\n", "{\n", '{"run": {}}\n{"level": {}, "at": 0}\n'])
def test_lines_that_torr_did_not_write_are_named(killed, text):
    (killed / "levels.jsonl").write_text(text)
    with pytest.raises(UsageError, match=r"levels\.jsonl cannot be read"):
        recover(killed)


def test_a_run_goes_on_behind_its_last_level(killed):
    with RunDirectory.reopen(killed) as run:
        assert len(run.levels) == LEVELS
        measure(run, 1, first=LEVELS + 1)
        run.close("complete")
    assert users_of(killed) == [*range(1, LEVELS + 2)]


def read_side(folder):
    return len(load(folder).trials)


def load_result(folder):
    return len(torr.load(folder).levels)


def read_import(folder):
    return len(json.loads(importing._read(folder, None)[0])["levels"])


@pytest.mark.parametrize("count", [read_side, load_result, read_import])
@pytest.mark.parametrize("name", ["", "result.json"])
def test_every_reader_of_a_run_finds_all_levels(tmp_path, count, name):
    with RunDirectory.create(tmp_path, "api", RunHead(kind="ladder")) as run:
        measure(run, LEVELS)
        killed = shutil.copytree(run.path, tmp_path / "killed")
    assert count(killed / name) == LEVELS
