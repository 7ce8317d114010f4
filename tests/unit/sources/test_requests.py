"""A requests file is known by its ending and its content."""

from __future__ import annotations

import json
import re

import pytest

from torr.errors import FileError, UsageError
from torr.sources.requests import read_requests

HAR = {"log": {"entries": [{"request": {"method": "GET", "url": "http://h/har"}}]}}


@pytest.mark.parametrize(
    ("name", "text", "url"),
    [
        ("a.http", "GET /http\n", "/http"),
        ("a.txt", "GET /http\n", "/http"),
        ("a.jsonl", '{"url": "/json"}\n', "/json"),
        ("a", '\n {"url": "/json"}', "/json"),
        ("a.har", json.dumps(HAR), "http://h/har"),
        ("a.json", json.dumps(HAR, indent=2), "http://h/har"),
        ("a.http", "\ufeffGET /bom\n", "/bom"),
    ],
)
def test_a_format_is_known(tmp_path, name, text, url):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    found = read_requests(path)
    assert [entry.url for entry in found.entries] == [url]
    assert found.left_out == 0


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.http", b"", "there is no request in it"),
        ("a.http", b"# nothing\n", "there is no request in it"),
        ("a.http", b"GET /\xff\n", "byte 5 is not UTF-8"),
        ("a.har", b'{"log": {}}', "the log of a HAR file has no entries"),
        ("a.har", b'{"url": "/"}', "not a HAR file"),
        ("a.json", b'{\n  "url": "/"\n}', "a.json:1: not JSON"),
        ("a.har", json.dumps({"log": {"entries": []}}).encode(), "there is no request in it"),
        ("a.har", json.dumps({"log": {"entries": []}}).encode(), "log.entries is empty: record"),
    ],
)
def test_what_is_no_requests_file_is_refused(tmp_path, name, content, says):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError) as error:
        read_requests(tmp_path / name)
    assert says in str(error.value)
    assert str(tmp_path / name) in str(error.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"none\.http: No such file"):
        read_requests(tmp_path / "none.http")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.har", '{"log": ' + "[" * 200 + "]" * 200 + "}", "a.har:1: it is nested more than 100"),
        ("a.har", '{"log":\n{"entries": []', "a.har:2: not JSON"),
        ("a.har", '{"log": {"entries": ["\\ud800"]}}', "a.har:1: a text has half of a character"),
        ("a.jsonl", '{"url": "/"}\n{"url": "/\\ud800"}', "a.jsonl:2: a text has half of a"),
        ("a.jsonl", '{"url": "/", "body": "ä"}', "a.jsonl:1: the body is not base64"),
        ("a.http", "POST http://h/\n@/dev/zero\n", "a.http:2: the body /dev/zero cannot be read"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_reason_and_its_line(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(FileError, match=re.escape(message)):
        read_requests(tmp_path / name)
