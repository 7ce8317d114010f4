"""A test that ends in any way is recorded, without a traceback."""

from __future__ import annotations

import os
import signal
from operator import methodcaller

import pytest

from installed import children_of, wait_until

EVENTS = "locustfile_events"
INTERRUPT = methodcaller("send_signal", signal.SIGINT)
TERMINATE = methodcaller("send_signal", signal.SIGTERM)
HANG_UP = methodcaller("send_signal", signal.SIGHUP)


@pytest.mark.parametrize("by", [TERMINATE, pytest.param(INTERRUPT, marks=pytest.mark.full)])
def test_a_signal_ends_a_test_without_an_end_and_keeps_it(interrupted, by):
    ended = interrupted(EVENTS, "-u", "2", by=by)
    assert "Traceback" not in ended.err
    assert (ended.code, ended.result["status"]) == (1, "complete")
    assert ended.level["requests"][0]["counts"]["ok"] > 0
    assert (ended.folder / "_output/torr/latest/report.html").exists()
    assert ended.err.count("Response time percentiles") == 1


def test_what_the_end_of_a_process_without_workers_needs_is_imported_before_it(interrupted):
    ended = interrupted("locustfile_imports", "-u", "2", by=TERMINATE, is_cold=True)
    start = "LocalRunner imported"
    (line,) = (line for line in ended.out.splitlines() if line.startswith(start))
    late = [name.partition(".")[0] for name in line.removeprefix(start).split()]
    assert not {"torr", "numpy", "rich", "sqlalchemy"} & set(late)


@pytest.mark.full
def test_ctrl_c_that_hits_a_task_ends_the_test_without_the_stack_of_that_task(interrupted):
    ended = interrupted("locustfile_spins", "-u", "2", by=INTERRUPT, is_cold=True)
    assert "Traceback" not in ended.err
    assert (ended.code, ended.result["status"]) == (0, "complete")


@pytest.mark.parametrize("by", [INTERRUPT, pytest.param(TERMINATE, marks=pytest.mark.full)])
def test_a_signal_before_the_end_of_the_run_time_interrupts(interrupted, by):
    ended = interrupted(EVENTS, "-u", "2", "-t", "10m", by=by)
    assert ended.result["status"] == "interrupted"
    assert "interrupted: everything measured until then is stored" in ended.err


def test_a_closed_terminal_ends_a_test_as_sigterm_does(interrupted):
    ended = interrupted(EVENTS, "-u", "2", by=HANG_UP)
    assert "Traceback" not in ended.err
    assert (ended.code, ended.result["status"]) == (129, "complete")
    assert ended.level["requests"][0]["counts"]["ok"] > 0
    assert (ended.folder / "_output/torr/latest/report.html").exists()


@pytest.fixture
def nohup():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    yield  # a process that starts now inherits it
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("nohup")
def test_under_nohup_a_closed_terminal_ends_nothing(interrupted):
    def hang_up_and_terminate(process):
        HANG_UP(process)
        TERMINATE(process)

    ended = interrupted(EVENTS, "-u", "2", by=hang_up_and_terminate, is_cold=True)
    assert (ended.code, ended.result["status"]) == (1, "complete")


@pytest.mark.full
def test_processes_that_get_a_signal_hand_in_what_they_have(interrupted):
    ended = interrupted(EVENTS, "-u", "4", "--processes", "2", by=TERMINATE)
    assert "Traceback" not in ended.err
    assert ended.err.count("Response time percentiles") == 1
    assert ended.level["generator"]["processes"] == 2
    assert ended.level["requests"][0]["counts"]["ok"] > 0


def test_workers_that_are_slow_to_end_hand_in_what_they_have(interrupted):
    ended = interrupted("locustfile_slow_end", "-u", "4", "--processes", "2", by=TERMINATE)
    codes = [warning["code"] for warning in ended.level["warnings"]]
    assert "warning.locust_process_lost" not in codes, ended.err
    calls = [int(x.split()[1]) for x in ended.out.splitlines() if x.startswith("called ")]
    assert len(calls) == 2
    assert ended.level["requests"][0]["counts"]["attempted"] == sum(calls)


def test_a_full_disk_costs_the_run_and_not_the_test(locust, disk):
    with disk("size=12k") as place:
        ended = locust(EVENTS, "-u", "2", "-t", "2s", "--only-summary", "--torr-out", place)
        assert "Traceback" not in ended.err
        assert "the run could not be written: No space left on device" in ended.err
        assert "Aggregated" in ended.err
        assert ended.code == 1  # as Locust ends where requests failed


def test_a_directory_that_cannot_be_written_is_said_at_once_and_at_the_end(locust, tmp_path):
    (tmp_path / "file").write_text("in the way")
    ended = locust("locustfile_quits", "-u", "1", "--torr-out", "file")
    why = "--torr-out file: is a file, not a directory"
    first, last = (
        ended.err.index(f"this test {word} not recorded: {why}") for word in ("is", "was")
    )
    assert first < ended.err.index("All users spawned") < last
    assert ended.code == 7


def test_a_name_that_cannot_name_files_is_refused_before_the_test(locust):
    ended = locust(EVENTS, "-u", "1", "-t", "1s", "--torr-name", "a/b")
    assert ended.code == 2
    assert "argument --torr-name: --torr-name 'a/b' cannot name files" in ended.err


def test_a_worker_that_dies_is_a_loss_that_is_told(interrupted):
    def kill_a_worker(process):
        worker = children_of(process.pid)[0]
        os.kill(worker, signal.SIGKILL)
        wait_until(lambda: worker not in children_of(process.pid))
        INTERRUPT(process)

    # Without a run time: the workers' first reports come when the machine lets them.
    ended = interrupted(EVENTS, "-u", "4", "--processes", "2", by=kill_a_worker)
    assert ended.level["health"]["verdict"] == "generator-limited"
    warnings = ended.level["warnings"]
    assert len(warnings) == 1, warnings
    assert warnings[0]["code"] == "warning.locust_process_lost"
    assert "a Locust process was lost" in ended.err
