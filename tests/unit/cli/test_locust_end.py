"""What `torr locust` does when a test has ended: little, since Locust's process ends after it."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest

from doubles import Truth, measured_interval, measured_level
from torr.cli.locust import conclude
from torr.errors import OutputError
from torr.experiments.context import Outcome
from torr.finishing import pipeline
from torr.results.result import RunHead
from torr.store.rundir import RunDirectory
from torr.store.runs.registration import Registration

CONCLUDED = """
    import gc, sys
    from pathlib import Path
    from doubles import Truth, measured_interval, measured_level
    from torr.cli.locust import conclude, prepare
    from torr.experiments.context import Outcome
    from torr.results.result import RunHead
    from torr.store.rundir import RunDirectory

    assert gc.get_freeze_count() == 0
    prepare(True)
    assert gc.get_freeze_count() > 0
    directory = RunDirectory.create(Path("runs"), "locust", RunHead(kind="locust"))
    directory.keep_interval(measured_interval(Truth(), 0, level=0, round=1))
    level = directory.keep_level(measured_level(10, Truth()))
    before = set(sys.modules)
    conclude(Outcome((level,)), directory, True)
    print(*sorted(set(sys.modules) - before))
    print("matplotlib" in sys.modules)
"""


@pytest.fixture
def directory(tmp_path):
    made = RunDirectory.create(tmp_path, "locust", RunHead(kind="locust"))
    made.keep_interval(measured_interval(Truth(), 0, level=0, round=1))
    with made:
        yield made


@pytest.fixture
def outcome(directory):
    return Outcome((directory.keep_level(measured_level(10, Truth())),))


def test_what_the_end_needs_is_imported_before_the_load(tmp_path, own_store):
    for number in (1, 2):  # the first one makes the store, with what that needs
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(CONCLUDED)],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env={
                "PYTHONPATH": ":".join(filter(None, sys.path)),
                "TORR_STORE": f"sqlite:///{own_store}",
            },
        )
        assert done.returncode == 0, done.stderr
        assert f"stored  as run {number}" in done.stderr
    assert done.stdout.splitlines() == ["", "False"]


def test_a_run_is_closed_registered_and_said_before_it_is_drawn(
    directory, outcome, monkeypatch, capsys, own_store
):
    seen = []

    def draw(_run, result):
        on_disk = json.loads(directory.result_path.read_text())
        seen.extend([on_disk["status"], result.verdicts, own_store.exists()])
        seen.append(capsys.readouterr().err)
        return [], ()

    monkeypatch.setattr(pipeline, "draw", draw)
    conclude(outcome, directory, True)
    assert seen[:3] == ["complete", [], True]
    assert "Answers" in seen[3]
    assert "stored  as run 1" in seen[3]


def test_a_report_that_cannot_be_drawn_costs_neither_the_verdict_nor_the_store(
    directory, outcome, monkeypatch, capsys
):
    def draw(_run, _result):
        raise OutputError("the report could not be written")

    monkeypatch.setattr(pipeline, "draw", draw)
    monkeypatch.setattr(
        pipeline,
        "register",
        lambda _path, _result, *, is_asked: Registration(id=7 if is_asked else None),
    )
    with pytest.raises(OutputError):
        conclude(outcome, directory, True)
    said = capsys.readouterr().err
    assert "Answers" in said
    assert "stored  as run 7" in said
    assert "report  " not in said
