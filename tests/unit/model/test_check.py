"""Checks and captures: from the text of a flag to the engine's JSON."""

from __future__ import annotations

import pytest

from torr.errors import UsageError
from torr.model.check import BodyCheck, Capture, JsonCheck


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("ok", {"kind": "text", "text": "ok"}),
        ("/a/b", {"kind": "text", "text": "/a/b"}),
        (r"/id=\d+/", {"kind": "regex", "pattern": r"id=\d+"}),
    ],
)
def test_a_body_is_checked_for_a_text_or_an_expression(text, written):
    assert BodyCheck.parse(text).as_json() == written


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("$.status=ok", "$.status", "ok"),
        ("status=ok", "$.status", "ok"),
        ("a.b = 7", "$.a.b", 7),
        ("[0].id=7.5", "$[0].id", 7.5),
        ("$.ok=true", "$.ok", True),
        ("$.none=null", "$.none", None),
        ('$.n="7"', "$.n", "7"),
        ('$.list=[1, "a"]', "$.list", [1, "a"]),
        ("$.text=a=b", "$.text", "a=b"),
        ("$.empty=", "$.empty", ""),
        ("$.x=NaN", "$.x", "NaN"),
        ("$.items[?@.id==7].name=ann", "$.items[?@.id==7].name", "ann"),
        ("$['a=b]']=1", "$['a=b]']", 1),
        ("$.items[?match(@.id, 'a=')].n=1", "$.items[?match(@.id, 'a=')].n", 1),
    ],
)
def test_a_json_check_has_a_path_and_a_value(text, path, value):
    assert JsonCheck.parse(text).as_json() == {"path": path, "value": value}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("token=json:$.token", {"name": "token", "from": "json", "what": "$.token"}),
        ("token=json:user.token", {"name": "token", "from": "json", "what": "$.user.token"}),
        ("next=header:Location", {"name": "next", "from": "header", "what": "Location"}),
        (r"id=regex:/id=(\d+)/", {"name": "id", "from": "regex", "what": r"id=(\d+)"}),
        (r"id=regex:id:(\d+)", {"name": "id", "from": "regex", "what": r"id:(\d+)"}),
    ],
)
def test_a_capture_says_where_its_value_stands(text, written):
    assert Capture.parse(text).as_json() == written


@pytest.mark.parametrize(
    ("read", "text", "says"),
    [
        (BodyCheck.parse, "", "is in every body"),
        (BodyCheck.parse, "//", "is in every body"),
        (JsonCheck.parse, "$.status", "is not PATH=VALUE"),
        (JsonCheck.parse, "=7", "is not PATH=VALUE"),
        (JsonCheck.parse, "$.a==7", "has two equals signs"),
        (Capture.parse, "token", "is not a capture"),
        (Capture.parse, "token=json:", "is not a capture"),
        (Capture.parse, "token=cookie:sid", "torr cannot capture from 'cookie'"),
        (Capture.parse, "uuid=json:$.a", "'uuid' cannot name"),
        (Capture.parse, "row=json:$.a", "'row' cannot name"),
        (Capture.parse, "a b=json:$.a", "'a b' cannot name"),
    ],
)
def test_what_cannot_be_looked_for_is_refused(read, text, says):
    with pytest.raises(UsageError, match=says):
        read(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$.token=hush", "***"),
        ("$['api_key']=hush", "***"),
        ("$.user.password=hush", "***"),
        ("$.name=ann", "ann"),
        ('$.user={"password": "hush", "n": 1}', {"password": "***", "n": 1}),
        ('$.users=[{"api_key": {"a": "hush"}}]', [{"api_key": "***"}]),
        ("$.next=/items?token=hush&n=1", "/items?token=***&n=1"),
    ],
)
def test_an_expected_secret_is_not_written(text, value):
    assert JsonCheck.parse(text).redacted().value == value


def test_an_expected_body_is_written_without_its_secrets():
    check = BodyCheck.parse('"access_token":"hush","n":1').redacted()
    assert check == BodyCheck('"access_token":"***","n":1')
    assert BodyCheck.parse("/token=hush/").redacted() == BodyCheck("token=***", is_regex=True)
