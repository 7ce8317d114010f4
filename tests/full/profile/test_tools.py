"""Programs that profile: what they write, that they cannot be run, and that they are stopped."""

from __future__ import annotations

import threading

import pytest

from installed import is_running, wait_until
from torr.errors import UsageError
from torr.profile.observation import capture_errors
from torr.profile.tools import Program


def test_what_a_program_writes_need_not_be_text():
    assert Program().run(["printf", r"main;\377 1"], 1) == "main;\ufffd 1"


def test_a_program_that_cannot_be_run_is_said(tmp_path):
    broken = tmp_path / "perf"
    broken.write_bytes(b"\x7fELF and no more")
    broken.chmod(0o755)
    with pytest.raises(UsageError, match="perf cannot be run: Exec format error"):
        Program().run([str(broken)], 1)


def test_a_program_is_stopped_and_no_other_is_started(tmp_path):
    file, ended = tmp_path / "pid", []
    program = Program()
    command = ["sh", "-c", f"echo $$ > {file}.part; mv {file}.part {file}; exec sleep 60"]
    thread = threading.Thread(
        target=lambda: ended.append(capture_errors(lambda: program.run(command, 60))), daemon=True
    )
    thread.start()
    wait_until(file.exists)
    program.stop()
    thread.join(30)
    assert [type(each) for each in ended] == [UsageError]
    assert not is_running(int(file.read_text()))
    with pytest.raises(UsageError, match="true was stopped"):
        program.run(["true"], 1)


def test_a_program_that_does_not_end_in_time_is_killed(monkeypatch, tmp_path):
    monkeypatch.setattr("torr.profile.tools.SLACK_S", 0)
    file = tmp_path / "pid"
    command = ["sh", "-c", f"echo $$ > {file}; exec sleep 60"]
    with pytest.raises(UsageError, match="sh did not end in time"):
        Program().run(command, 5)
    assert not is_running(int(file.read_text()))


def test_stopping_what_is_over_does_nothing():
    program = Program()
    assert program.run(["echo", "1"], 1) == "1\n"
    program.stop()
