"""A file from outside is read up to a limit; what has no end is refused before it is read."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from torr.errors import FileError, UsageError
from torr.model import outside_file
from torr.model.outside_file import check_readable, lines_of, read_bounded, read_text

ZEROS = Path("/dev/zero")


@contextmanager
def pipe_of(*pieces, ends=True):
    """The path of a pipe into which a thread writes these, or the last one without end."""
    reading, writing = os.pipe()

    def write():
        with suppress(BrokenPipeError), os.fdopen(writing, "wb", buffering=0) as file:
            for piece in pieces:
                file.write(piece)
            while not ends:
                file.write(pieces[-1])

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield Path(f"/dev/fd/{reading}")
    finally:
        os.close(reading)
        thread.join(10)


def test_a_file_is_read_up_to_the_limit(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * 2**20)
    assert read_bounded(tmp_path / "a", 1 << 20) == b"x" * 2**20
    with (tmp_path / "a").open("ab") as file:
        file.write(b"x")
    with pytest.raises(OSError, match="larger than 1 MiB"):
        read_bounded(tmp_path / "a", 1 << 20)


def test_a_pipe_is_read_to_its_end():
    with pipe_of(b"a" * 100_000, b"b") as path:
        assert read_bounded(path) == b"a" * 100_000 + b"b"


def test_a_pipe_through_which_nothing_comes_before_it_is_closed_is_empty():
    with pipe_of() as path:
        assert read_bounded(path) == b""


def test_a_pipe_without_an_end_is_read_up_to_the_limit():
    with pipe_of(b"x" * 65536, ends=False) as path, pytest.raises(OSError, match="larger than 2"):
        read_bounded(path, 2 << 20)


def test_a_pipe_into_which_nobody_writes_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(outside_file, "_FIRST_BYTE_TIMEOUT_S", 0.01)
    os.mkfifo(tmp_path / "a")
    with pytest.raises(UsageError, match=r"a: nothing came through this pipe in 0\.01 s"):
        read_text(tmp_path / "a")


def test_a_pipe_is_found_readable_without_being_opened(tmp_path):
    os.mkfifo(tmp_path / "a")
    check_readable(tmp_path / "a")


@pytest.mark.parametrize("read", [read_bounded, check_readable, lambda path: list(lines_of(path))])
def test_a_device_without_an_end_is_refused(read):
    with pytest.raises(OSError, match="neither a file nor a pipe"):
        read(ZEROS)


@pytest.mark.parametrize("read", [read_bounded, check_readable])
def test_what_is_no_file_is_an_error_of_the_system(tmp_path, read):
    for path in (tmp_path, tmp_path / "none", tmp_path / "a\0b"):
        with pytest.raises(OSError, match=r"Is a directory|No such file|no file can have"):
            read(path)


def test_the_null_device_is_empty():
    check_readable(Path(os.devnull))
    assert read_bounded(Path(os.devnull)) == b""


def test_text_that_is_not_utf8_is_an_error_of_its_line(tmp_path):
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfone\ntwo\n\xff\n")
    with pytest.raises(FileError, match=r"a:3: byte 11 is not UTF-8"):
        read_text(tmp_path / "a")
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfone")
    assert read_text(tmp_path / "a") == "one"


def test_lines_come_one_by_one_and_one_without_an_end_is_refused(monkeypatch):
    monkeypatch.setattr(outside_file, "LONGEST_LINE", 8)
    with pipe_of(b"one\r\ntwo\n", b"x" * 8, ends=False) as path:
        lines = lines_of(path)
        assert [next(lines), next(lines)] == ["one\n", "two\n"]
        with pytest.raises(FileError, match=":3: it is longer than 8 characters"):
            next(lines)
        lines.close()


def test_a_directory_that_is_read_as_a_file_leaves_no_descriptor_open(tmp_path):
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(10):
        with pytest.raises(IsADirectoryError):
            read_bounded(tmp_path, 100)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
