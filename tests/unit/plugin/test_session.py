"""A session of measured functions: tests that run again, and writes that fail."""

from __future__ import annotations

import errno
import json
from types import SimpleNamespace

import pytest

import typed
from torr.plugin import run_writer, session
from torr.plugin.session import MeasurementSession
from torr.results.result import RunHead
from torr.store.level_lines import LevelLines

ITEM = SimpleNamespace(nodeid="test_it.py::test_it")


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """A session whose run is written; a function is as fast as its number says."""
    monkeypatch.setattr(session.machine, "speed", lambda: None)
    monkeypatch.setattr(run_writer.machine, "speed", lambda: None)
    monkeypatch.setattr(session, "parameters_of", lambda _item: {})

    def judge(levels, _speed):
        return typed.verdict(word="held" if levels[-1].ok_per_s > 100 else "broken")

    monkeypatch.setattr(session, "budgets_of", lambda _item: [SimpleNamespace(judge=judge)])
    options = {"torr_save": "functions", "torr_dir": "runs", "torr_budgets": "fail"}
    config = SimpleNamespace(
        getoption=options.get,
        invocation_params=SimpleNamespace(dir=tmp_path),
        stash={run_writer._HEAD: RunHead(kind=run_writer.KIND)},
    )
    return MeasurementSession(config)


def attempt(measured, ok_per_s):
    measured.begin(ITEM)
    entry = measured.entry(ITEM, None)
    entry.levels.append(entry.named(typed.level(ok_per_s=ok_per_s)))
    measured.judge(ITEM)


def test_a_test_that_runs_again_is_judged_by_its_last_attempt(measured):
    with pytest.raises(pytest.fail.Exception):
        attempt(measured, 50.0)
    attempt(measured, 150.0)
    found = [(entry.candidate, [x.word for x in entry.budgets]) for entry in measured.entries]
    assert found == [("test_it.py::test_it", []), ("test_it.py::test_it (attempt 2)", ["held"])]


def test_names_are_numbered_within_an_attempt(measured):
    def names():
        measured.begin(ITEM)
        return [measured.entry(ITEM, name).candidate for name in (None, "f", None)]

    path = "test_it.py::test_it"
    assert names() == [path, f"{path}::f", f"{path} #2"]
    assert names() == [f"{path} (attempt 2)", f"{path}::f (attempt 2)", f"{path} #2 (attempt 2)"]


def test_only_the_last_attempt_at_a_test_is_compared(measured):
    for name in ("f", None):
        measured.begin(ITEM)
        entry = measured.entry(ITEM, name)
        entry.levels.append(entry.named(typed.level()))
    assert [level.candidate for level in measured.last_levels] == [
        "test_it.py::test_it (attempt 2)"
    ]


def test_a_write_that_fails_loses_no_round(measured, monkeypatch, tmp_path):
    append = LevelLines.append
    full = True

    def fail(lines, line):
        if full and "level" in line:
            raise OSError(errno.ENOSPC, "No space left on device")
        append(lines, line)

    monkeypatch.setattr(LevelLines, "append", fail)
    entry = measured.entry(ITEM, None)
    entry.levels += [entry.named(typed.level(round=number)) for number in (1, 2)]
    measured.writer.save()
    full = False
    entry.levels.append(entry.named(typed.level(round=3)))
    measured.writer.save()
    measured.writer._directory.close("complete")
    (path,) = tmp_path.glob("runs/functions-*/result.json")
    assert [level["round"] for level in json.loads(path.read_text())["levels"]] == [1, 2, 3]
