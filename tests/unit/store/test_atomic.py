"""Atomic files: the old content or the new, nothing between."""

from __future__ import annotations

import pytest

from torr.store.atomic import replace_bytes, replace_link, replacing


def test_the_old_content_stays_until_the_new_is_whole(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_on_the_way_keeps_the_old_content(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError, match="halfway"):
        fail_halfway(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


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
