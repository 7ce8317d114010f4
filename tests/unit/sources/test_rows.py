"""The columns of a data file."""

from __future__ import annotations

import os

import pytest

from torr.errors import UsageError
from torr.sources.rows import columns_of


@pytest.mark.parametrize(
    ("name", "text", "columns"),
    [
        ("a.csv", "user,first name\nann,Ann\n", {"user", "first name"}),
        ("a.csv", 'user,"a,b"\r\n1,"2\n3"\r\n', {"user", "a,b"}),
        ("a.csv", "\ufeffuser\nann\n", {"user"}),
        ("a.txt", "user\nann", {"user"}),
        ("a.jsonl", '\n{"user": "ann", "n": 1}\n', {"user", "n"}),
        ("a.ndjson", '{"user": "ann"}', {"user"}),
    ],
)
def test_columns_have_the_names_of_the_first_line(tmp_path, name, text, columns):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    assert columns_of(path) == columns


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.csv", b"", ":1: a column has no name"),
        ("a.csv", b"a,,b\n1,2,3\n", ":1: a column has no name"),
        ("a.csv", b"a,b,a\n1,2,3\n", ":1: two columns are called 'a'"),
        ("a.csv", b"a,b\n", ":2: there is no row"),
        ("a.csv", b"a,b\n1\n", ":2: 1 value for 2 columns"),
        ("a.csv", b'a,b\n"x,1\ny,2\n', ":2: a quote is not closed"),
        ("a.csv", b'a,"b\n1,2\n', ":1: a quote is not closed"),
        ("a.csv", b'a,b\n"' + b"1" * 200_000, ":2: a quote is not closed"),
        ("a.csv", b'a,b\n"x"y\n', ":2: 1 value for 2 columns"),
        ("a.csv", b"a\xff\n1\n", "byte 1 is not UTF-8"),
        ("a.jsonl", b"", ":1: there is no row"),
        ("a.jsonl", b"\n[1]\n", ":2: not a JSON object"),
        ("a.jsonl", b"{}\n", ":1: not a JSON object"),
        ("a.jsonl", b"{\n", ":1: not JSON"),
    ],
)
def test_a_file_without_rows_is_refused(tmp_path, name, content, says):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UsageError) as error:
        columns_of(path)
    assert f"{path}" in str(error.value)
    assert says in str(error.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"none\.csv: No such file"):
        columns_of(tmp_path / "none.csv")


def test_a_pipe_is_refused_since_rows_are_read_more_than_once(tmp_path):
    os.mkfifo(tmp_path / "a.csv")
    with pytest.raises(UsageError, match="not a regular file"):
        columns_of(tmp_path / "a.csv")
