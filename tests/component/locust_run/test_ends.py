"""However a test ends, what was measured is kept, and nobody reads a traceback."""

from __future__ import annotations

import os
import signal

import pytest

from installed import Ended, children_of, wait_until
from locust_calls import command, slices_of

EVENTS = "locustfile_events"
SIGNALS = [signal.SIGINT, signal.SIGTERM]


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_signal_ends_a_test_without_an_end_and_keeps_it(interrupted, number):
    ended = interrupted(EVENTS, "-u", "2", number=number)
    assert "Traceback" not in ended.err
    assert (ended.code, ended.result["status"]) == (1, "complete")
    assert ended.level["steps"][0]["counts"]["ok"] > 0
    assert (ended.folder / "_output/torr/latest/report.html").exists()


def test_ctrl_c_that_hits_a_task_ends_the_test_without_the_stack_of_that_task(interrupted):
    ended = interrupted("locustfile_spins", "-u", "2", number=signal.SIGINT)
    assert "Traceback" not in ended.err
    assert (ended.code, ended.result["status"]) == (0, "complete")


def test_a_signal_before_the_end_of_the_run_time_interrupts(interrupted):
    ended = interrupted(EVENTS, "-u", "2", "-t", "10m")
    assert ended.result["status"] == "interrupted"
    assert "interrupted: what was measured is kept" in ended.err


def test_processes_that_get_a_signal_hand_in_what_they_have(interrupted):
    ended = interrupted(EVENTS, "-u", "4", "--processes", "2", number=signal.SIGTERM)
    assert "Traceback" not in ended.err
    assert ended.level["generator"]["processes"] == 2
    assert ended.level["steps"][0]["counts"]["ok"] > 0


def test_a_full_disk_costs_the_run_and_not_the_test(locust, disk):
    with disk("size=16k") as place:
        ended = locust(EVENTS, "-u", "2", "-t", "4s", "--only-summary", "--torr-out", place)
        assert "Traceback" not in ended.err
        assert "the run could not be kept: No space left on device" in ended.err
        assert "Aggregated" in ended.err
        assert ended.code == 1  # as Locust ends where requests failed


def test_a_directory_that_cannot_be_written_is_said_at_once_and_at_the_end(locust, tmp_path):
    (tmp_path / "file").write_text("in the way")
    ended = locust("locustfile_quits", "-u", "1", "--torr-out", "file")
    why = "--torr-out file: is a file, not a directory"
    first, last = (ended.err.index(f"this test {word} not kept: {why}") for word in ("is", "was"))
    assert first < ended.err.index("All users spawned") < last
    assert ended.code == 7


def test_a_name_that_cannot_name_files_is_refused_before_the_test(locust):
    ended = locust(EVENTS, "-u", "1", "-t", "1s", "--torr-name", "a/b")
    assert ended.code == 2
    assert "argument --torr-name: --torr-name 'a/b' cannot name files" in ended.err


def test_a_worker_that_dies_is_a_loss_that_is_told(start, tmp_path, target):
    process = start(*command(EVENTS, target, "-u", "4", "-t", "9s", "--processes", "2"))
    wait_until(lambda: slices_of(tmp_path) > 1)
    os.kill(children_of(process.pid)[0], signal.SIGKILL)
    _, err = process.communicate(timeout=60)
    ended = Ended(process.returncode, "", err, tmp_path)
    assert ended.level["health"]["verdict"] == "generator-limited"
    (warning,) = ended.level["warnings"]
    assert "was not heard to its end" in warning
    assert "a Locust process was lost" in err
