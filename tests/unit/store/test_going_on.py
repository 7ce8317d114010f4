"""A run that ended early goes on where it was: nothing is lost, nothing half-made stays."""

from __future__ import annotations

import json

import pytest

import typed
from doubles import Truth, interval_of, level_of
from torr.errors import OutputError, UsageError
from torr.results.result import RunHead, TrialFailure, read
from torr.store.rundir import RunDirectory


def interval(second):
    return typed.engine_interval({"level": 0, **interval_of(Truth(), second)})


def measure(run, users, seconds):
    for second in range(seconds):
        run.keep_interval(interval(second))
    run.keep_level(typed.engine_level(level_of(users, Truth())))


@pytest.fixture
def ended(tmp_path):
    """A run with two levels of three and two intervals, and one interval of a third."""
    with RunDirectory.create(tmp_path, "matrix", RunHead(kind="compare")) as run:
        measure(run, 200, 3)
        measure(run, 500, 2)
        run.keep_interval(interval(0))
    return run.path


def test_finished_levels_stay_and_new_ones_come_behind(ended):
    with RunDirectory.reopen(ended) as run:
        measure(run, 1000, 1)
        run.close("complete")
    result = json.loads((ended / "result.json").read_text())
    assert [level["concurrency"] for level in result["levels"]] == [200, 500, 1000]
    assert [len(level["intervals"]) for level in result["levels"]] == [3, 2, 1]
    assert len((ended / "intervals.jsonl").read_bytes().splitlines()) == 6


def test_it_stays_the_run_that_it_was(ended):
    before = json.loads((ended / "result.json").read_text())
    with RunDirectory.reopen(ended) as run:
        run.close("complete")
    after = json.loads((ended / "result.json").read_text())
    differing = {key for key in before if before[key] != after[key]}
    assert differing <= {"status", "ended"}
    assert after["status"] == "complete"


def test_two_at_a_time_do_not_go_on_with_one_run(ended):
    in_use = pytest.raises(OutputError, match="another torr process continues this run")
    with RunDirectory.reopen(ended), in_use:
        RunDirectory.reopen(ended)
    with RunDirectory.reopen(ended) as run:
        measure(run, 1000, 1)
    assert [len(level.intervals) for level in run.full_levels()] == [3, 2, 1]


def test_a_half_written_line_goes(ended):
    with (ended / "intervals.jsonl").open("ab") as intervals:
        intervals.write(b'{"t_s": 1.')
    with RunDirectory.reopen(ended) as run:
        measure(run, 1000, 1)
    assert [len(level.intervals) for level in run.full_levels()] == [3, 2, 1]


def test_a_complete_run_has_nothing_left(ended):
    with RunDirectory.reopen(ended) as run:
        run.close("complete")
    with pytest.raises(UsageError, match="is complete"):
        RunDirectory.reopen(ended)


def test_a_folder_without_a_run_is_named(tmp_path):
    with pytest.raises(UsageError, match="contains no stored result"):
        RunDirectory.reopen(tmp_path)


def test_a_broken_result_is_named_and_left_alone(ended):
    (ended / "result.json").write_text("{")
    with pytest.raises(UsageError, match=r"result\.json is not a result of torr"):
        RunDirectory.reopen(ended)
    assert (ended / "result.json").read_text() == "{"


FAILURE = TrialFailure(candidate="b", round=1, kind="died", text="it ended")


def test_trials_that_came_to_nothing_are_kept_at_once_and_stay(ended):
    with RunDirectory.reopen(ended) as run:
        run.keep_failure(FAILURE)
        assert read(run.result_path).failures == [FAILURE]
    with RunDirectory.reopen(ended) as run:
        assert run.failures == [FAILURE]
        run.close("complete")
    assert read(ended / "result.json").failures == [FAILURE]


def test_a_run_of_failures_alone_is_readable(tmp_path):
    with RunDirectory.create(tmp_path, "matrix", RunHead(kind="compare")) as run:
        run.keep_failure(FAILURE)
        assert not run.is_empty
    assert (tmp_path / "latest" / "result.json").exists()


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        "5",
        '{"levels": 5}',
        '{"levels": [{}]}',
        '{"levels": [{"intervals": 5}]}',
        "[" * 999,
    ],
)
def test_what_is_no_result_does_not_go_on(ended, text):
    (ended / "result.json").write_text(text)
    with pytest.raises(UsageError, match=r"result\.json is not a result of torr"):
        RunDirectory.reopen(ended)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"intervals": 5}, r"levels\[1\]\.intervals"),
        ({"intervals": [{"t_s": "x"}]}, r"levels\[1\]\.intervals\[0\]\.t_s"),
    ],
)
def test_a_level_that_is_none_does_not_go_on(ended, change, place):
    result = json.loads((ended / "result.json").read_text())
    result["levels"][1].update(change)
    (ended / "result.json").write_text(json.dumps(result))
    with pytest.raises(UsageError, match=place):
        RunDirectory.reopen(ended)


def test_intervals_that_a_power_cut_took_come_back(ended):
    whole = (ended / "intervals.jsonl").read_bytes().splitlines()[:5]
    (ended / "intervals.jsonl").write_bytes(b"\0\0")
    with RunDirectory.reopen(ended) as run:
        assert [len(level.intervals) for level in run.full_levels()] == [3, 2]
    kept = (ended / "intervals.jsonl").read_bytes().splitlines()
    assert [json.loads(line) for line in kept] == [json.loads(line) for line in whole]
