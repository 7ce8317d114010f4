"""A server's life: started, stopped, and what goes wrong on the way."""

from __future__ import annotations

import os
import signal
import stat
from pathlib import Path

import pytest

from installed import is_running, wait_until
from programs import (
    EXITS,
    FAILS_TO_STOP,
    FORKS_AND_LEAVES,
    HELLO,
    IGNORES_TERM,
    LEAVES_A_CHILD,
    NEVER_LISTENS,
    ONE_SOCKET,
    PRINTS,
)
from torr.errors import OutputError, exit_code
from torr.servers.failure import TrialError
from torr.servers.ports import port_listeners
from torr.servers.readiness import await_ready
from torr.servers.server import Server


def test_a_server_starts_answers_and_stops_without_a_trace(start, here):
    server = start(HELLO)
    await_ready(server)
    server.check()
    assert server.pids() == [server.pid]
    assert [each.pid for each in port_listeners(here.port)] == [server.pid]
    stopped = server.stop()
    assert (stopped.code, stopped.signals, stopped.killed) == (-signal.SIGTERM, 1, ())
    assert stopped.is_clean
    assert port_listeners(here.port) == []
    assert not is_running(server.pid)
    assert not is_running(server.watcher_pid)


def test_a_second_stop_does_nothing_more(start):
    server = start(HELLO)
    assert server.stop() is server.stop()
    assert server.pids() == []


def test_the_server_does_not_find_the_address_of_the_store(start, monkeypatch):
    monkeypatch.setenv("TORR_STORE", "postgresql://user:secret@db/torr")
    server = start('print("TORR_STORE" in os.environ, flush=True)')
    wait_until(server.log_tail)
    assert server.log_tail() == ("False",)


def test_the_server_finds_its_environment_its_folder_and_its_scratch(start, here, tmp_path):
    code = 'print(os.environ["COLOUR"], os.getcwd(), os.environ["TMPDIR"], flush=True)'
    server = start(code, env=(("COLOUR", "blue"),))
    wait_until(server.unexpected_exit)
    assert server.log_tail() == (f"blue {tmp_path / 'apps'} {here.scratch}",)


def test_a_server_runs_on_its_cores_alone(start):
    core = min(os.sched_getaffinity(0))
    server = start(HELLO, cores=(core,))
    assert os.sched_getaffinity(server.pid) == {core}
    assert os.sched_getaffinity(server.watcher_pid) == os.sched_getaffinity(0)


@pytest.mark.parametrize(
    ("broken", "kind", "says"),
    [
        ({"argv": ("no-such-program-7f3a",)}, "not_found", "'no-such-program-7f3a' was not found"),
        ({"argv": ("./absent",)}, "not_found", "'./absent' was not found"),
        ({"argv": ("/",)}, "did_not_start", "'/' cannot be run: Permission denied"),
        ({"cwd": Path("/no/folder")}, "did_not_start", "cwd '/no/folder' cannot be entered"),
        ({"cores": (4095,)}, "did_not_start", "cannot be put on the cores [4095]"),
    ],
)
def test_what_cannot_be_started_says_why(start, broken, kind, says):
    with pytest.raises(TrialError) as caught:
        start(HELLO, **broken)
    assert caught.value.kind == kind
    assert caught.value.message.startswith("app: ")
    assert says in caught.value.message
    assert exit_code(caught.value) == 3


@pytest.mark.usefixtures("no_umask")
def test_nobody_else_may_read_the_log_of_a_server(start):
    server = start('print("secret", flush=True)')
    assert stat.S_IMODE(server.log.stat().st_mode) == 0o600


def test_a_log_that_cannot_be_written_is_an_error_of_output(command, here, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="file/log: cannot be written"):
        Server.start(command(HELLO), here.scratch, tmp_path / "file" / "log")


def test_a_server_that_exits_is_dead_with_its_last_words(start):
    server = start(EXITS)
    assert not server.wait(20)
    death = server.unexpected_exit()
    assert death.kind == "died"
    assert "exit code 3" in death.message
    assert death.log_tail == ("no module named app",)
    assert server.stop().failure().message == death.message


def test_a_server_that_dies_in_the_middle_is_noticed(start):
    server = start(HELLO)
    await_ready(server)
    os.kill(server.pid, signal.SIGKILL)
    assert not server.wait(20)
    with pytest.raises(TrialError, match="it ended by itself: signal 9"):
        server.check()
    assert server.stop().failure().kind == "died"


def test_a_server_that_ignores_its_signal_is_killed(start):
    server = start(IGNORES_TERM, grace_s=0.2)
    await_ready(server)
    stopped = server.stop()
    assert stopped.failure().kind == "did_not_stop"
    assert "2 times by SIGTERM" in stopped.failure().message
    assert [each.pid for each in stopped.killed] == [server.pid]
    assert stopped.code == -signal.SIGKILL
    assert not is_running(server.pid)


def test_a_server_may_be_stopped_by_another_signal(start):
    server = start(IGNORES_TERM, stop_signal=signal.SIGINT)
    await_ready(server)
    stopped = server.stop()
    assert (stopped.signals, stopped.is_clean) == (1, True)


def test_a_server_that_fails_while_it_stops_is_not_clean(start):
    server = start(FAILS_TO_STOP)
    await_ready(server)
    failure = server.stop().failure()
    assert (failure.kind, failure.message) == (
        "bad_end",
        "app: after the stop signal it ended with exit code 7",
    )


def test_a_server_that_forks_and_leaves_still_belongs_to_us(start, here):
    server = start(FORKS_AND_LEAVES)
    await_ready(server)
    wait_until(lambda: server.wait(0.01) and server.is_daemon)
    [serving] = server.pids()
    assert serving != server.pid
    assert server.root_pids() == [serving]
    server.check()
    stopped = server.stop()
    assert stopped.is_daemon
    assert (stopped.code, stopped.is_clean) == (0, True)
    assert not is_running(serving)
    assert port_listeners(here.port) == []


@pytest.mark.usefixtures("short_stay")
def test_a_child_that_stays_is_named_and_killed(start):
    server = start(LEAVES_A_CHILD)
    await_ready(server)
    [child] = set(server.pids()) - {server.pid}
    stopped = server.stop()
    assert stopped.failure().kind == "left_behind"
    assert f"(pid {child}) running" in stopped.failure().message
    assert [each.pid for each in stopped.killed] == [child]
    assert not is_running(child)


@pytest.mark.usefixtures("short_stay")
def test_children_of_a_server_are_all_of_it(start):
    server = start(ONE_SOCKET, "3")
    await_ready(server)
    assert len(wait_until(lambda: len(server.pids()) == 4 and server.pids())) == 4
    pids = server.pids()
    assert server.root_pids() == [server.pid]
    assert server.stop().failure().kind == "left_behind"
    assert not any(map(is_running, pids))


def test_a_server_that_prints_without_end_has_a_bounded_log(start):
    server = start(PRINTS)
    await_ready(server)
    wait_until(lambda: "dropped" in server.log.read_text(errors="replace"))
    stopped = server.stop()
    assert stopped.is_clean
    assert stopped.dropped_bytes > 0
    content = server.log.read_text()
    assert server.log.stat().st_size < 1 << 20
    assert content.startswith("first line\n")
    assert server.log_tail(1)[0].startswith("a line that is not worth keeping")


def test_an_exception_stops_the_server(command, here, tmp_path):
    def interrupted():
        with Server.start(command(HELLO), here.scratch, tmp_path / "log") as server:
            pids.append(server.pid)
            raise KeyboardInterrupt

    pids = []
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not is_running(pids[0])


def test_ctrl_c_while_it_stops_kills_it(start, monkeypatch):
    server = start(IGNORES_TERM, grace_s=60.0)
    await_ready(server)

    def pressed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Server, "_await_end", pressed)
    with pytest.raises(KeyboardInterrupt):
        server.stop()
    assert not is_running(server.pid)


def test_a_taken_port_names_who_has_it(start, command, here, tmp_path):
    server = start(HELLO)
    await_ready(server)
    with pytest.raises(
        TrialError, match=rf"port {here.port} is taken by .*pid {server.pid}"
    ) as got:
        Server.start(command(HELLO), here.scratch, tmp_path / "log")
    assert got.value.kind == "port_taken"


def test_a_server_that_listens_nowhere_is_stopped_too(start):
    server = start(NEVER_LISTENS)
    assert server.wait(0.01)
    assert server.stop().is_clean
