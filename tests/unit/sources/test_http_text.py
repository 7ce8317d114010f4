"""Requests in vegeta's `http` format."""

from __future__ import annotations

import pytest

from torr.errors import FileError
from torr.sources.http_text import read

TEXT = """\
# a comment
GET http://127.0.0.1:8080/a?b=c

POST /items
Content-Type: application/json
# between the headers
X-Empty:
@item.json
DELETE /items/{{ row.id }}
"""


def test_requests_are_read_with_headers_and_body(tmp_path):
    (tmp_path / "item.json").write_bytes(b'{"n": 1}\n')
    first, second, third = read(tmp_path / "requests.http", TEXT)
    assert (first.method, first.url, first.line) == ("GET", "http://127.0.0.1:8080/a?b=c", 2)
    assert (first.headers, first.body) == ((), None)
    assert (second.method, second.url, second.line) == ("POST", "/items", 4)
    assert second.headers == (("Content-Type", "application/json"), ("X-Empty", ""))
    assert second.body == b'{"n": 1}\n'
    assert (third.method, third.url, third.line) == ("DELETE", "/items/{{ row.id }}", 9)


def test_a_body_is_looked_for_in_the_current_directory_too(tmp_path, monkeypatch):
    (tmp_path / "there").mkdir()
    (tmp_path / "body").write_bytes(b"here")
    monkeypatch.chdir(tmp_path)
    (entry,) = read(tmp_path / "there/requests.http", "PUT /x\n@body\n")
    assert entry.body == b"here"


def test_windows_line_ends_are_line_ends(tmp_path):
    (entry,) = read(tmp_path / "x.http", "GET /a\r\nX-A: 1\r\n\r\n")
    assert (entry.url, entry.headers) == ("/a", (("X-A", "1"),))


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("hello\n", 1, "'hello' does not begin a request"),
        ("GET /\n\nX-A: 1\n", 3, "'X-A: 1' does not begin a request"),
        ("GET /\nnonsense\n", 2, "'nonsense' is not a header"),
        ("GET /\nX(A: 1\n", 2, "header name 'X(A' is not a word"),
        ("CONNECT /\n", 1, "method CONNECT asks for a tunnel"),
        ("POST /\n@none.json\n", 2, "the body none.json cannot be read: No such file"),
        ("POST /\n@a\n@a\n", 3, "has a body already"),
        (f"{'x' * 99}\n", 1, f"'{'x' * 39}…' does not begin a request"),
    ],
)
def test_a_broken_line_is_named(tmp_path, text, line, says):
    (tmp_path / "a").write_text("a")
    path = tmp_path / "x.http"
    with pytest.raises(FileError) as error:
        list(read(path, text))
    assert str(error.value).startswith(f"{path}:{line}: ")
    assert says in str(error.value)
