"""Which process has a socket open, and which connections a server has accepted."""

from __future__ import annotations

import os
import socket

from torr.procfs.sockets import accepted, holder_of, holders


def test_an_accepted_connection_is_found_with_the_process_that_has_it_open():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            from_port = client.getsockname()[1]
            assert accepted(port, {from_port}) == {}
            with server.accept()[0] as connection:
                inode = os.fstat(connection.fileno()).st_ino
                assert accepted(port, {from_port}) == {from_port: inode}
                assert accepted(port, {from_port + 1}) == {}
                assert holders({inode}, [os.getpid()]) == {inode: os.getpid()}
                assert holders({inode}, []) == {}


def test_a_socket_of_nobody_has_no_process(tmp_path):
    assert holder_of(1, tmp_path) is None


def test_a_process_that_may_not_be_looked_at_is_passed_over(tmp_path):
    (tmp_path / "proc/7").mkdir(parents=True)
    folder = tmp_path / "proc/12/fd"
    folder.mkdir(parents=True)
    (folder / "5").symlink_to("socket:[99]")
    (folder.parent / "comm").write_text("nginx\n")
    limits = "Limit   Soft Limit  Hard Limit  Units\nMax open files  1024  4096  files\n"
    (folder.parent / "limits").write_text(limits)
    found = holder_of(99, tmp_path)
    assert (found.pid, found.name, found.descriptors) == (12, "nginx", 1024)


def test_a_descriptor_that_is_closed_meanwhile_hides_no_other(tmp_path):
    folder = tmp_path / "proc/7"
    (folder / "fd").mkdir(parents=True)
    (folder / "comm").write_text("server\n")
    (folder / "limits").write_text("Max open files            20000    20000  files\n")
    (folder / "fd/3").touch()  # not a link: it cannot be read, as one that is gone
    (folder / "fd/4").symlink_to("socket:[42]")
    found = holder_of(42, tmp_path)
    assert (found.pid, found.name) == (7, "server")
