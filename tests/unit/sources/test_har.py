"""Requests of a HAR file, as browsers record them."""

from __future__ import annotations

from pathlib import Path

import pytest

from torr.errors import UsageError
from torr.sources.har import read

PATH = Path("x.har")


def har(*requests):
    return {"log": {"version": "1.2", "entries": [{"request": request} for request in requests]}}


def recorded(url="http://127.0.0.1/", method="GET", headers=(), **more):
    fields = [{"name": name, "value": value} for name, value in headers]
    return {"method": method, "url": url, "headers": fields, **more}


def test_what_belongs_to_the_connection_is_left_out_and_cookies_stay():
    headers = [
        *((":authority", "h"), (":path", "/"), ("Host", "h"), ("Content-Length", "5")),
        *(("Connection", "keep-alive"), ("Cookie", "a=b"), ("Accept", "*/*")),
    ]
    (entry,), left_out = read(PATH, har(recorded(headers=headers)))
    assert entry.headers == (("Cookie", "a=b"), ("Accept", "*/*"))
    assert left_out == 0


def test_entries_that_are_not_http_are_counted():
    urls = ["data:text/plain,x", "http://h/", "blob:http://h/1", "ws://h/", "HTTPS://h/"]
    entries, left_out = read(PATH, har(*map(recorded, urls)))
    assert [entry.url for entry in entries] == ["http://h/", "HTTPS://h/"]
    assert left_out == 3


@pytest.mark.parametrize(
    ("posted", "body"),
    [
        ({"mimeType": "text/plain", "text": "hü"}, "hü".encode()),
        ({"mimeType": "a/b", "text": "AP8=", "encoding": "base64"}, b"\x00\xff"),
        ({"mimeType": "a/b", "params": [{"name": "a b", "value": "c&d"}, {"name": "e"}]}, None),
        ({"mimeType": "a/b", "text": ""}, b""),
    ],
)
def test_what_was_posted_is_the_body(posted, body):
    (entry,), _ = read(PATH, har(recorded(method="POST", postData=posted)))
    assert entry.body == (b"a+b=c%26d&e=" if body is None else body)
    assert entry.headers == (("content-type", posted["mimeType"]),)
    assert entry.method == "POST"


def test_a_recorded_content_type_stays():
    kind = [("Content-Type", "text/x")]
    posted = {"mimeType": "text/y", "text": "a"}
    (entry,), _ = read(PATH, har(recorded(headers=kind, postData=posted)))
    assert entry.headers == (("Content-Type", "text/x"),)


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"log": {"entries": {}}}, "log.entries is not a list"),
        ({"log": {"entries": [{}]}}, "entry 1 is not an entry of a HAR file"),
        (har(recorded(), {"url": "http://h/"}), "entry 2 is not an entry"),
        (har(recorded(method="G T")), "entry 1: method 'G T'"),
        (har(recorded(headers=[("a", "b\nc")])), "entry 1: header 'a' contains a newline"),
        (
            har(recorded(postData={"text": "!", "encoding": "base64"})),
            "entry 1: its body is not base64",
        ),
    ],
)
def test_a_broken_entry_is_named(document, says):
    with pytest.raises(UsageError, match=r"x\.har: ") as error:
        read(PATH, document)
    assert says in str(error.value)


@pytest.mark.parametrize(
    "posted",
    [
        {"mimeType": "a/b", "text": "ä", "encoding": "base64"},
        {"mimeType": "a/b", "text": 5, "encoding": "base64"},
        {"mimeType": "a/b", "text": {"a": 1}},
        {"mimeType": "a/b", "text": "\ud800"},
        {"mimeType": "a/b", "params": [{"name": "\ud800"}]},
        {"mimeType": "a/b", "params": [{"name": 5}]},
        {"mimeType": 5, "text": "a"},
        {"mimeType": "a\r\nX: y", "text": "a"},
        ["text"],
        "text",
    ],
)
def test_a_body_that_cannot_be_sent_is_refused(posted):
    with pytest.raises(UsageError, match=r"x\.har: entry 1"):
        read(PATH, har(recorded(method="POST", postData=posted)))


@pytest.mark.parametrize("part", ["url", "method", "headers"])
@pytest.mark.parametrize("value", [5, None, ["a"], {"name": "a"}, [{"name": "a", "value": 5}]])
def test_a_part_of_another_kind_is_refused(part, value):
    with pytest.raises(UsageError, match=r"x\.har: entry 1"):
        read(PATH, har({**recorded(), part: value}))
