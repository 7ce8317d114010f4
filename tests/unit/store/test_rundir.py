"""A run's directory: readable at every moment, whatever happens to the process or the disk."""

from __future__ import annotations

import json
import math
import os
import shutil
import stat
import subprocess
import sys
import weakref
from contextlib import ExitStack

import msgspec
import pytest

import typed
from doubles import Truth, interval_of, level_of
from torr.errors import OutputError
from torr.model.moment import read_stamp
from torr.results.capacity import Capacity, SloCapacity
from torr.results.experiment import Experiment
from torr.results.level import Interval
from torr.results.result import Conclusions, RunHead, TrialFailure, read
from torr.results.verdict import Verdict
from torr.store import level_log
from torr.store.rundir import RunDirectory, check_name, short_name

TOO_FAST = {
    "url": "http://h/",
    "series": [{"name": "a", "kind": "counter", "values": [math.inf, 1.0]}],
}


@pytest.fixture
def open_run():
    """Opens runs, which are closed at the end of the test."""
    with ExitStack() as stack:

        def opened(root, name="apiserver", **head):
            run = RunDirectory.create(root, name, RunHead(kind="ladder", **head))
            return stack.enter_context(run)

        yield opened


def interval(second, **more):
    return typed.engine_interval({"level": 0, **interval_of(Truth(), second), **more})


def level(users, **more):
    return typed.engine_level({**level_of(users, Truth()), **more})


def measure(run, users, seconds=3):
    for second in range(seconds):
        run.keep_interval(interval(second))
    run.keep_level(level(users))


def test_an_interval_is_on_disk_as_soon_as_it_is_kept(tmp_path, open_run):
    run = open_run(tmp_path)
    kept = run.keep_interval(interval(0))
    (line,) = (run.path / "intervals.jsonl").read_text().splitlines()
    assert typed.engine_interval(json.loads(line)) == kept


def test_a_level_is_in_result_json_as_soon_as_it_is_kept(tmp_path, open_run):
    run = open_run(tmp_path)
    measure(run, 200)
    measure(run, 500, seconds=2)
    result = json.loads(run.result_path.read_text())
    assert [level["concurrency"] for level in result["levels"]] == [200, 500]
    assert [len(level["intervals"]) for level in result["levels"]] == [3, 2]
    assert result["status"] == "interrupted"


def test_nobody_else_may_read_a_run(tmp_path, open_run):
    run = open_run(tmp_path)
    measure(run, 200)
    run.close("complete")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in run.path.iterdir()}
    assert modes == {"result.json": 0o600, "intervals.jsonl": 0o600}
    assert stat.S_IMODE(run.path.stat().st_mode) == 0o700


def test_what_torr_itself_writes_into_the_head_stays_whatever_the_secrets_are(tmp_path):
    digits = [f"{number:04}" for number in range(10_000)]
    facts = {"machine": {"host": "host-1234"}, "git": "1234" * 10}
    head = RunHead(environment=facts, note="note 1234")
    with RunDirectory.create(tmp_path, "a", head, secrets=[*digits, "host", "machine"]) as run:
        run.close("complete")
    result = read(run.result_path)
    assert (result.note, len(result.id)) == ("note ***", 32)
    assert result.environment == {"machine": {"host": "host-1234"}, "git": "1234" * 10}
    assert run.path.name == f"a-{read_stamp(result.started):%Y%m%d-%H%M%S}"


def test_conditions_are_read_again_whatever_the_secrets_are(tmp_path):
    texts = ["p95 < 5000ms", "hush: errors < 1%"]
    stored = ["p95 < 5000ms", "***: errors < 1%"]
    head = RunHead(experiment=Experiment(slos=texts, min_capacity="5000 ok/s"))
    verdicts = [Verdict(metric="errors", condition=text) for text in texts]
    slo = SloCapacity(concurrency=1, ok_per_s=1.0, conditions=texts)
    conclusions = Conclusions(verdicts=verdicts, capacity=Capacity(slo=slo))
    with RunDirectory.create(tmp_path, "a", head, secrets=["5000", "errors", "hush"]) as run:
        run.close("complete", conclusions)
    result = read(run.result_path)
    assert result.experiment.slos == result.capacity.slo.conditions == stored
    assert result.experiment.min_capacity == "5000 ok/s"
    assert [(x.metric, x.condition) for x in result.verdicts] == [("errors", x) for x in stored]


def test_levels_that_are_kept_together_have_one_place_each(tmp_path, open_run):
    run = open_run(tmp_path)
    run.keep_interval(interval(0))
    run.keep_levels([level(200), level(500)])
    measure(run, 900)
    result = json.loads(run.result_path.read_text())
    assert [level["concurrency"] for level in result["levels"]] == [200, 500, 900]
    assert [len(level["intervals"]) for level in result["levels"]] == [1, 0, 3]
    assert (tmp_path / "latest").resolve() == run.path


def test_a_closed_run_has_every_key_of_a_result(tmp_path, open_run):
    run = open_run(tmp_path, command=["torr", "ladder"], plan={"version": 1})
    measure(run, 200)
    run.close("complete", Conclusions(capacity=Capacity(reasons={"knee": "too few levels"})))
    result = json.loads(run.result_path.read_text())
    expected = {"schema", "torr", "kind", "name", "started", "ended", "status", "command", "plan"}
    expected |= {
        "id",
        "note",
        "tags",
        "environment",
        "experiment",
        "levels",
        "capacity",
        "verdicts",
    }
    assert set(result) == expected
    assert result["status"] == "complete"
    assert result["capacity"]["reasons"] == {"knee": "too few levels"}
    assert result["started"].endswith("Z")


def test_a_closed_run_is_a_valid_result(tmp_path, open_run):
    run = open_run(tmp_path, command=["torr", "ladder"], plan={"version": 1})
    measure(run, 200)
    run.close("complete")
    assert read(run.result_path).levels[0].concurrency == 200


def test_a_result_with_numbers_that_json_has_not_is_still_a_valid_result(tmp_path, open_run):
    run = open_run(tmp_path, plan={"version": 1, "rate": math.inf})
    run.keep_interval(msgspec.structs.replace(interval(0), ok_per_s=math.nan))
    run.keep_level(level(200, monitor={"endpoints": [TOO_FAST]}))
    run.close("complete")
    result = read(run.result_path)
    assert result.plan == {"version": 1, "rate": None}
    assert result.levels[0].monitor.endpoints[0].series[0].values == [None, 1.0]
    assert result.levels[0].intervals[0].ok_per_s is None


def test_levels_are_read_back_with_their_intervals(tmp_path, open_run):
    run = open_run(tmp_path)
    measure(run, 200)
    measure(run, 500)
    assert [len(level.intervals) for level in run.full_levels()] == [3, 3]


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_ctrl_c_in_the_middle_of_an_interval_leaves_whole_intervals(
    tmp_path, open_run, monkeypatch, share
):
    run = open_run(tmp_path)
    run.keep_interval(interval(0))

    def interrupted(file, content):
        file.write(content[: int(share * len(content))])
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(level_log, "write_whole", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run.keep_interval(interval(1))
    run.keep_interval(interval(2))
    run.keep_level(level(200))
    run.close("interrupted")
    (kept,) = json.loads(run.result_path.read_text())["levels"]
    assert [piece["t_s"] for piece in kept["intervals"]] == [0, 2]


class WatchedInterval(Interval, weakref=True):
    """An interval that can be watched."""


def test_memory_holds_no_intervals(tmp_path, open_run):
    run = open_run(tmp_path)
    piece = WatchedInterval(t_s=0, seconds=1, phase="measure")
    watched = weakref.ref(piece)
    run.keep_interval(piece)
    del piece
    assert watched() is None


def test_latest_points_at_the_newest_run_with_a_result(tmp_path, open_run):
    first, second = open_run(tmp_path), open_run(tmp_path)
    measure(first, 200)
    assert (tmp_path / "latest").readlink().name == first.path.name
    measure(second, 200)
    assert (tmp_path / "latest" / "result.json").samefile(second.result_path)


def test_two_runs_of_one_second_have_two_directories(tmp_path, open_run):
    assert len({open_run(tmp_path).path for _ in range(3)}) == 3


def test_an_abandoned_run_leaves_nothing(tmp_path, open_run):
    run = open_run(tmp_path)
    assert run.is_empty
    run.abandon()
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_place_of_the_directory_is_refused_and_kept(tmp_path, open_run):
    place = tmp_path / "results"
    place.write_text("mine")
    with pytest.raises(OutputError, match=r"-d/--dir .*results: is a file"):
        open_run(place)
    assert place.read_text() == "mine"


def test_a_file_above_the_directory_is_refused(tmp_path, open_run):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputError, match="-d/--dir"):
        open_run(tmp_path / "file" / "below")


def test_a_latest_that_is_no_link_is_refused_and_kept(tmp_path, open_run):
    (tmp_path / "latest").mkdir()
    with pytest.raises(OutputError, match="latest is not a link"):
        open_run(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["latest"]


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "latest", ".hidden", "-n", "a\nb"])
def test_a_name_that_cannot_name_files_is_refused(tmp_path, name, open_run):
    with pytest.raises(OutputError, match="-n/--name"):
        open_run(tmp_path, name)
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_would_make_names_of_files_too_long_is_refused(tmp_path, open_run):
    with pytest.raises(OutputError, match=r"-n/--name 'éé.*' is longer than 200 bytes"):
        open_run(tmp_path, "é" * 101)
    assert list(tmp_path.iterdir()) == []
    open_run(tmp_path, "é" * 100)


def test_the_name_of_a_diff_keeps_both_ends():
    assert short_name("é" * 100) == "é" * 100
    name = short_name(f"before{'é' * 100}_{'中' * 100}after")
    assert (name[:8], name[-7:], len(name.encode())) == ("beforeéé", "中中after", 199)
    check_name(name, "-n")


AS_SOMEBODY_ELSE = """
import os, sys
from pathlib import Path
from torr.errors import OutputError
from torr.results.result import RunHead
from torr.store import level_log
from torr.store.rundir import RunDirectory
if os.getuid() == 0:  # whom no mode bits stop
    os.setgid(65534)
    os.setuid(65534)
try:
    RunDirectory.create(Path(sys.argv[1]), "apiserver", RunHead())
except OutputError as error:
    print(error)
"""


def test_a_directory_that_cannot_be_written_is_refused(tmp_path):
    place = tmp_path / "readonly"
    place.mkdir(mode=0o555)
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    command = [sys.executable, "-c", AS_SOMEBODY_ELSE, str(place)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "-d/--dir" in found.stdout
    assert "Permission denied" in found.stdout
    assert list(place.iterdir()) == []


def test_a_disk_that_fills_up_leaves_the_finished_levels(small_disk, open_run):
    run = open_run(small_disk)
    measure(run, 200)
    with pytest.raises(OutputError, match="No space left") as error:
        fill(run)
    assert "1 finished level stored in" in str(error.value)
    with pytest.raises(OutputError, match="No space left"):
        run.close("failed")
    result = json.loads(run.result_path.read_text())
    assert [level["concurrency"] for level in result["levels"]] == [200]
    lines = (run.path / "intervals.jsonl").read_text().splitlines()
    assert lines
    assert all(json.loads(line) for line in lines)
    assert not list(run.path.glob(".*"))


def fill(run):
    for second in range(100_000):
        run.keep_interval(interval(second, histograms={"service": "x" * 1000}))


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 256 KiB."""
    if os.getuid() != 0:
        pytest.skip("only root may mount a file system")
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)]
    subprocess.run(mount, check=True)
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_directory_that_is_removed_leaves_the_levels_in_memory(tmp_path, open_run):
    run = open_run(tmp_path)
    measure(run, 50)
    shutil.rmtree(run.path)
    for use in (
        run.full_levels,
        run.current_result,
        lambda: measure(run, 100),
        lambda: run.close("complete"),
    ):
        with pytest.raises(OutputError, match="the directory was removed before the run ended"):
            use()
    result = run.unsaved_result()
    assert result.status == "interrupted"
    assert [(x.concurrency, x.intervals) for x in result.levels] == [(50, []), (100, [])]


def test_a_run_that_goes_on_tells_what_there_is_so_far(tmp_path, open_run):
    run = open_run(tmp_path, command=["torr", "ladder"])
    assert run.current_result().levels == []
    measure(run, 200)
    run.keep_interval(interval(0, level=1))
    failure = run.keep_failure(TrialFailure(candidate="go", round=1, kind="died", text="it ended"))
    found = run.current_result()
    assert (found.status, found.ended, found.name) == ("running", None, "apiserver")
    assert [len(level.intervals) for level in found.levels] == [3]
    assert found.failures == [failure]
    assert typed.changed(read(run.result_path), status="running", ended=None) == found
