"""Templates that are filled, and commands that run, before a server starts."""

from __future__ import annotations

import pytest

from installed import is_running, wait_until
from torr.errors import OutputError
from torr.servers.command import Command
from torr.servers.failure import EndedEarly, TrialError
from torr.servers.preparation import ConfigTemplate, Preparation


def command(folder, **settings):
    default = {"health_timeout_s": 20.0, "cwd": folder, "env": (("LEVEL", "3"),)}
    return Command(("serve",), "http://127.0.0.1:1/", "app", **{**default, **settings})


def test_a_template_is_filled_into_a_file_of_the_trial(tmp_path):
    template = ConfigTemplate("conf", tmp_path / "server.conf", "pool {pool};\nmap {{pool}} { }\n")
    paths = Preparation((template,)).write_files({"pool": 8, "fast": True}, tmp_path)
    assert paths["conf"].name == "conf-server.conf"
    assert paths["conf"].read_text() == "pool 8;\nmap {pool} { }\n"


def test_commands_run_in_order_in_the_folder_and_environment_of_the_server(tmp_path):
    write = ("sh", "-c", "echo {pool} $LEVEL $TMPDIR >> made")
    Preparation(before=(write, write)).run(command(tmp_path), {"pool": 8}, tmp_path)
    assert (tmp_path / "made").read_text() == f"8 3 {tmp_path}\n" * 2


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("sh", "-c", "echo no room; exit 3"), "'sh', of before, failed: exit code 3"),
        (("sh", "-c", "kill -9 $$"), "'sh', of before, failed: signal 9 (SIGKILL)"),
        (("no-such-program",), "'no-such-program', of before, cannot be run: No such file"),
    ],
)
def test_a_command_that_fails_is_named_with_its_output(tmp_path, argv, said):
    with pytest.raises(TrialError) as raised:
        Preparation(before=(argv,)).run(command(tmp_path), {}, tmp_path)
    assert raised.value.kind == "before_failed"
    assert said in raised.value.message
    assert raised.value.log_tail == (("no room",) if "echo" in argv[-1] else ())


def test_files_that_torr_cannot_write_are_no_failure_of_a_setting(tmp_path):
    gone = tmp_path / "gone"
    template = Preparation((ConfigTemplate("a", tmp_path / "b", ""),))
    with pytest.raises(OutputError, match=r"gone/a-b: cannot be written: No such file"):
        template.write_files({}, gone)
    with pytest.raises(OutputError, match=r"before\.log: cannot be written: No such file"):
        Preparation(before=(("true",),)).run(command(tmp_path), {}, gone)


def test_a_command_that_does_not_end_is_killed_with_what_it_started(tmp_path):
    stay = ("sh", "-c", "sleep 60 & echo $! > pid; wait")
    with pytest.raises(TrialError, match="did not end within 3 s"):
        Preparation(before=(stay,)).run(command(tmp_path, health_timeout_s=3), {}, tmp_path)
    pid = int((tmp_path / "pid").read_text())
    wait_until(lambda: not is_running(pid))


def test_an_interrupt_ends_the_wait(tmp_path):
    with pytest.raises(EndedEarly):
        Preparation(before=(("sleep", "60"),)).run(
            command(tmp_path), {}, tmp_path, is_over=lambda: True
        )
