"""Atomic files: the old content or the new, nothing between."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from torr.store.atomic import SHARED, replace_bytes, replace_link, replacing


def test_the_old_content_stays_until_the_new_is_whole(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_for_its_owner_unless_it_is_made_to_be_shared(tmp_path):
    replace_bytes(tmp_path / "private", b"")
    replace_bytes(tmp_path / "shared", b"", SHARED)
    umask = os.umask(0)
    os.umask(umask)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("private", "shared")]
    assert modes == [0o600, 0o666 & ~umask]


def test_a_draft_of_another_process_with_the_same_number_is_not_in_the_way(tmp_path, monkeypatch):
    # Two containers may write to one volume, and each has a process 1.
    monkeypatch.setattr(os, "getpid", lambda: 1)
    with replacing(tmp_path / "file") as one, replacing(tmp_path / "file") as two:
        one.write(b"one")
        two.write(b"two")
    assert (tmp_path / "file").read_bytes() == b"one"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_name_may_be_as_long_as_the_file_system_allows(tmp_path):
    names = ["f" * 255, "l" * 255]
    replace_bytes(tmp_path / names[0], b"new")
    replace_link(tmp_path / names[1], names[0])
    assert (tmp_path / names[1]).read_bytes() == b"new"
    assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_an_error_on_the_way_keeps_the_old_content(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError, match="halfway"):
        fail_halfway(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_new_content_is_on_the_disk_before_it_takes_the_place_of_the_old(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    synced, fsync = [], os.fsync

    def record(descriptor):
        synced.append((Path(f"/proc/self/fd/{descriptor}").resolve(), path.read_bytes()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", record)
    replace_bytes(path, b"new")
    (draft, before), (folder, after) = synced
    assert draft.parent == folder == tmp_path
    assert (before, after) == (b"old", b"new")


def test_bytes_are_replaced_whole(tmp_path):
    replace_bytes(tmp_path / "file", b"first and long")
    replace_bytes(tmp_path / "file", b"second")
    assert (tmp_path / "file").read_bytes() == b"second"


def test_a_link_is_replaced(tmp_path):
    replace_link(tmp_path / "latest", "one")
    replace_link(tmp_path / "latest", "two")
    assert (tmp_path / "latest").readlink().name == "two"
    assert len(list(tmp_path.iterdir())) == 1


def fail_halfway(path):
    with replacing(path) as file:
        file.write(b"ne")
        raise RuntimeError("halfway")


def test_a_link_is_followed(tmp_path):
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to("target")
    replace_bytes(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


def test_a_pipe_is_written_to_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    replace_bytes(pipe, b"content")
    assert os.read(reader, 100) == b"content"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_device_that_takes_nothing_is_an_error_and_stays(tmp_path):
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        replace_bytes(full, b"content")
    assert full.is_char_device()
