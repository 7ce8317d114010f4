"""A log that keeps its head and its tail."""

from __future__ import annotations

import errno
import os
import stat

import pytest

from torr.servers.bounded_log import BoundedLog
from torr.servers.log_file import tail


@pytest.fixture
def log(tmp_path):
    opened = BoundedLog(str(tmp_path / "log"), head=100, tail=200)
    yield opened
    opened.close()


def test_a_short_log_is_whole(log, tmp_path):
    log.write(b"one\n")
    log.write(b"two\n")
    assert (tmp_path / "log").read_bytes() == b"one\ntwo\n"
    assert log.dropped == 0
    assert tail(tmp_path / "log", 1) == ("two",)
    assert tail(tmp_path / "log", 0) == ()


@pytest.mark.usefixtures("no_umask")
def test_nobody_else_may_read_a_log(tmp_path):
    BoundedLog(str(tmp_path / "log")).close()
    assert stat.S_IMODE((tmp_path / "log").stat().st_mode) == 0o600


@pytest.mark.parametrize("piece", [1, 7, 64, 1000])
def test_a_long_log_keeps_its_ends_and_counts_the_rest(log, tmp_path, piece):
    lines = b"".join(b"line %05d\n" % number for number in range(1000))
    for start in range(0, len(lines), piece):
        log.write(lines[start : start + piece])
    content = (tmp_path / "log").read_bytes()
    assert len(content) <= 100 + 2 * 200 + 40
    head, dropped, rest = content[:100], content[101:].partition(b"\n")[0], content[100:]
    assert head == lines[:100]
    assert dropped == b"[... %d bytes dropped ...]" % log.dropped
    kept = rest.partition(b"dropped ...]\n")[2]
    assert lines.endswith(kept)
    assert kept.startswith(b"line ")
    assert len(head) + log.dropped + len(kept) == len(lines)


def test_a_full_disk_loses_lines_and_counts_them(log, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    log.write(b"kept\n")
    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", full)
        log.write(b"lost\n")
    log.write(b"kept again\n")
    assert log.dropped == 5
    assert (tmp_path / "log").read_bytes() == b"kept\nkept again\n"


def test_the_tail_of_no_log_is_empty_and_long_lines_are_cut(tmp_path):
    assert tail(tmp_path / "none", 5) == ()
    (tmp_path / "long").write_text("x" * 1000 + "\n" + "\xe9" * 3)
    assert tail(tmp_path / "long", 2) == ("x" * 500 + "…", "ééé")
