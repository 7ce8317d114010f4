"""JSON from outside is read within bounds, and an error says what is wrong."""

from __future__ import annotations

import json

import pytest

from torr.model.json_input import MOST_DEPTH, JsonInputError, parse_json


@pytest.mark.parametrize(
    "text",
    [
        "1",
        '"a"',
        "{}",
        '{"a": [1, 2.5, {"b": null}]}',
        b'{"a": "\xc3\xa9"}',
        str(2**64 - 1),
        "-1e308",
        "[" * MOST_DEPTH + "]" * MOST_DEPTH,
    ],
)
def test_json_is_read_as_the_standard_library_reads_it(text):
    assert parse_json(text) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON: Expecting property name"),
        ("", "not JSON: Expecting value"),
        (b'"\xff"', "byte 1 is not UTF-8"),
        ("NaN", "NaN is not a number of JSON"),
        ('{"a": [-Infinity]}', "-Infinity is not a number of JSON"),
        ("[1e400]", "the number 1e400 is too large"),
        (str(2**64), "the number 18446744073709551616 is too large"),
        ("9" * 6000, "the number 999999999999999999999999999... is too large"),
        ("[" * (MOST_DEPTH + 1) + "]" * (MOST_DEPTH + 1), "more than 100 levels deep"),
        ('{"a":' * 200 + "1" + "}" * 200, "more than 100 levels deep"),
        ("[" * 100_000, "more than 100 levels deep"),
    ],
)
def test_what_cannot_be_held_is_refused(text, message):
    with pytest.raises(JsonInputError, match=message.replace(".", r"\.")):
        parse_json(text)
