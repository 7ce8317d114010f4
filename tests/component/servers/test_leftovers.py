"""What a server left: told by name."""

from __future__ import annotations

from programs import HELLO, LEAVES_FILES
from torr.servers.leftovers import Leftovers, leftovers, snapshot
from torr.servers.ports import Listener
from torr.servers.readiness import await_ready
from torr.servers.server_exit import Process


def test_a_tidy_server_leaves_nothing(start, command, here):
    before = snapshot(command(HELLO).cwd)
    server = start(HELLO)
    await_ready(server)
    found = leftovers(server.stop(), here.port, before)
    assert found == Leftovers()
    assert found.failure("app") is None


def test_files_are_named_and_those_in_the_scratch_folder_are_no_failure(start, command, here):
    folder = command(HELLO).cwd
    before = snapshot(folder)
    server = start(LEAVES_FILES)
    await_ready(server)
    found = leftovers(server.stop(), here.port, before)
    assert (here.scratch / "left.pid").exists()
    assert found.files == (folder / "left.log",)
    failure = found.failure("app")
    assert failure.kind == "left_behind"
    assert (
        failure.message == f"app: left behind 1 file that appeared meanwhile: {folder / 'left.log'}"
    )


def test_processes_and_listeners_are_named(tmp_path):
    found = Leftovers((Process(7, "app"),), (Listener("127.0.0.1:80", 7, "app"),), (tmp_path,) * 5)
    assert found.failure("app").message == (
        "app: left behind 1 process that still runs: app (pid 7); "
        "1 listener: app (pid 7) at 127.0.0.1:80; "
        f"5 files that appeared meanwhile: {tmp_path}, {tmp_path}, {tmp_path} …"
    )


def test_new_files_are_found_in_every_folder_that_was_there(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "old").write_text("")
    before = snapshot(tmp_path)
    assert before.is_whole
    assert before.new() == []
    (tmp_path / "a" / "b" / "new").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inside").write_text("")
    assert before.new() == [tmp_path / "a" / "b" / "new", tmp_path / "folder"]


def test_caches_of_python_and_what_torr_writes_are_not_the_servers(tmp_path):
    (tmp_path / "_output").mkdir()
    (tmp_path / "app").mkdir()
    before = snapshot(tmp_path, ignored=[tmp_path / "_output", tmp_path / "app" / "later"])
    for name in ("_output/run", "__pycache__", "app/__pycache__", "app/later"):
        (tmp_path / name).mkdir()
    assert before.new() == []


def test_a_folder_with_too_much_in_it_is_listed_from_the_top(tmp_path):
    (tmp_path / "deep").mkdir()
    for number in range(5):
        (tmp_path / f"{number}").write_text("")
    before = snapshot(tmp_path, most=3)
    assert not before.is_whole
    (tmp_path / "new").write_text("")
    (tmp_path / "deep" / "unseen").write_text("")
    assert before.new() == [tmp_path / "new"]
