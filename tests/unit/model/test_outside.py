"""What comes from outside holds no secret and moves no terminal when it is kept or printed."""

from __future__ import annotations

import json
import math

import pytest

from torr.model.json_input import parse_json
from torr.model.outside import Outside
from torr.model.printable import printable, safe_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("a\rb", r"a\rb"),
        ("a\r\n\tb\n", "a\r\n\tb\n"),
        ("\x9b31m", r"\x9b31m"),
        ("abc\u202edef", r"abc\u202edef"),
        ("naïve 中文 😀", "naïve 中文 😀"),
    ],
)
def test_control_characters_are_written_out(text, shown):
    assert printable(text) == shown
    assert printable(shown) == shown


def test_both_are_done_to_a_text():
    assert safe_text("token=hush \x1b[2J") == r"token=*** \x1b[2J"


def test_texts_and_names_of_members_are_changed_at_any_depth_and_numbers_are_not():
    outside = Outside().with_secrets(["hush-hush"])
    value = {"GET /?key=Ab1": [{"n": 1.5, "text": "it said hush-hush"}, None, True], "m": ("\x07",)}
    assert outside.json(value) == {
        "GET /?key=***": [{"n": 1.5, "text": "it said ***"}, None, True],
        "m": [r"\x07"],
    }


def test_a_secret_that_contains_another_is_covered_whole():
    outside = Outside().with_secrets(["hush", "hush-hush"])
    assert outside.text("hush-hush and hush") == "*** and ***"
    assert outside.text("long " * 100 + "hush-hush").endswith("long ***")


def test_a_number_that_json_has_not_becomes_null():
    value = {"a": [math.inf, -math.inf, math.nan, 10**30, 1e308, -(2**64) + 1, True]}
    fit = Outside().json(value)
    assert fit == {"a": [None, None, None, None, 1e308, -(2**64) + 1, True]}
    assert parse_json(json.dumps(fit)) == fit


def test_members_whose_names_become_the_same_are_all_kept():
    fit = Outside().json({"/?key=Ab1": 1, "/?key=Cd2": 2, "/?key=*** #2": 3, "/?key=Ef3": 4})
    assert fit == {"/?key=***": 1, "/?key=*** #2": 2, "/?key=*** #2 #2": 3, "/?key=*** #3": 4}


@pytest.mark.parametrize("length", [1, 40])
def test_a_histogram_stays_whatever_its_letters_spell(length):
    text = "HISTFAAA" + "AIza" + "tokenkey" * length + "=="
    assert Outside().with_secrets(["tokenkey"]).text(text) == text
    assert "AIza" not in Outside().text(f"{text} AIza{'b' * 40}")[len(text) :]
