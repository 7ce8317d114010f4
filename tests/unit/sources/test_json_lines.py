"""Requests in vegeta's JSON format, with what torr reads besides."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from torr.errors import FileError
from torr.sources.json_lines import read
from torr.sources.members import MEMBERS
from torr.units import SECOND_NS

PATH = Path("x.jsonl")


def test_vegetas_members_are_read():
    line = {"method": "PUT", "url": "/a", "header": {"X-A": ["1", "2"]}, "body": "AP8="}
    (entry,) = read(PATH, json.dumps(line) + "\n\n")
    assert (entry.method, entry.url, entry.body) == ("PUT", "/a", b"\x00\xff")
    assert entry.headers == (("X-A", "1"), ("X-A", "2"))
    assert (entry.name, entry.weight, entry.timeout_ns, entry.accept_statuses) == ("", *[None] * 3)


def test_a_line_ends_at_a_line_feed_alone():
    text = '{"url": "/a", "name": "x\u2028y\u2029\x85z"}\r\n{"url": "/b"}\r\n{"url": 1}'
    entries = read(PATH, text)
    assert [next(entries).url, next(entries).url] == ["/a", "/b"]
    with pytest.raises(FileError, match=r"x\.jsonl:3"):
        next(entries)


def test_torrs_members_are_read_as_flags_are():
    line = {
        "name": "login",
        "url": "/login",
        "weight": 8,
        "timeout": "5s",
        "expect_status": "201,404",
        "expect_body": ["ok", "/id=[0-9]/"],
        "expect_json": "$.status=ok",
        "capture": ["token=json:$.token", "next=header:Location"],
        "json_body": {"user": "{{row.user}}", "ü": 1},
    }
    assert set(line) <= set(MEMBERS)
    (entry,) = read(PATH, json.dumps(line))
    assert (entry.name, entry.weight, entry.timeout_ns) == ("login", 8, 5 * SECOND_NS)
    assert entry.method == "POST"
    assert entry.accept_statuses == ((201, 201), (404, 404))
    assert [check.is_regex for check in entry.expect_body] == [False, True]
    assert [check.path for check in entry.expect_json] == ["$.status"]
    assert [capture.name for capture in entry.captures] == ["token", "next"]
    assert entry.body == '{"user": "{{row.user}}", "ü": 1}'.encode()
    assert entry.headers == (("content-type", "application/json"),)


def test_a_body_is_written_as_text_too_and_a_header_as_one():
    (entry,) = read(PATH, '{"url": "/", "text_body": "hi", "header": {"Content-Type": "a/b"}}')
    assert (entry.body, entry.headers, entry.method) == (b"hi", (("Content-Type", "a/b"),), "POST")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ('{"url": "/", "headers": {}}', "there is no 'headers' here"),
        ('{"method": "GET"}', "the member url is missing"),
        ('{"url": 7}', "the member url is not a text"),
        ('{"url": "/", "method": "G T"}', "'G T' is not a word"),
        ('{"url": "/", "header": [1]}', "the member header is not of type object"),
        ('{"url": "/", "header": {"a": 1}}', "the header 'a' is not a text"),
        ('{"url": "/", "header": {"a": "b\\nc"}}', "contains a newline"),
        ('{"url": "/", "body": "hi!"}', "the body is not base64"),
        ('{"url": "/", "body": 7}', "the member body is not a text"),
        ('{"url": "/", "body": "aGk=", "text_body": "hi"}', "body and text_body are all given"),
        ('{"url": "/", "weight": 0}', "the weight 0 is not a whole number of at least 1"),
        ('{"url": "/", "weight": true}', "the weight True"),
        ('{"url": "/", "weight": 1.5}', "the weight 1.5"),
        ('{"url": "/", "timeout": "5"}', "the duration '5' has no unit"),
        ('{"url": "/", "expect_status": "20"}', "'20' is not a status"),
        ('{"url": "/", "expect_json": "a"}', "'a' is not PATH=VALUE"),
        ('{"url": "/", "capture": {}}', "the member capture is not a text or a list"),
    ],
)
def test_a_broken_line_is_named(line, says):
    text = '{"url": "/"}\n' + line
    with pytest.raises(FileError) as error:
        list(read(PATH, text))
    assert str(error.value).startswith("x.jsonl:2: ")
    assert says in str(error.value)
