"""Texts in several languages: what is filled in, joined and copied, and what is left as it is."""

import copy
import json

import pytest

from torr.messages import say as said
from torr.messages.say import as_json, chain, changed, join, one_line, render, say, say_count

WORDS = {
    "{n:,} user": "{n:,} 个用户",
    "{n:,} users": "{n:,} 个用户",
    "Holds {rate} at {place}": "在 {place} 时能承受 {rate}",
    "{rate} requests/s": "每秒 {rate} 个请求",
    "{before} and {last}": "{before} 和 {last}",
    ", ": "、",
    "({why})": "（{why}）",
}


@pytest.fixture(autouse=True)
def words(monkeypatch):
    monkeypatch.setattr(said, "words", chinese)


def chinese(language, key, _number=None):
    return None if language == "en" else WORDS.get(key)


def test_a_text_is_its_english():
    text = say("Holds {rate} at {place}", rate=say("{rate} requests/s", rate="2,150"), place="home")
    assert text == "Holds 2,150 requests/s at home"
    assert type(str(text)) is str
    assert f"{text}!" == "Holds 2,150 requests/s at home!"
    assert json.dumps(text) == '"Holds 2,150 requests/s at home"'


def test_texts_within_a_text_are_said_in_its_language():
    rate = say("{rate} requests/s", rate="2,150")
    text = say(
        "Holds {rate} at {place}", rate=rate, place=say_count(400, "{n:,} user", "{n:,} users")
    )
    assert text == "Holds 2,150 requests/s at 400 users"
    assert text.render("zh") == "在 400 个用户时能承受每秒 2,150 个请求"
    assert text.as_json() == {"en": str(text), "zh": text.render("zh")}


def test_one_thing_has_words_of_its_own():
    counts = [say_count(n, "{n:,} user", "{n:,} users") for n in (1, 1600)]
    assert counts == ["1 user", "1,600 users"]
    assert [count.render("zh") for count in counts] == ["1 个用户", "1,600 个用户"]


@pytest.mark.parametrize(
    ("parts", "english", "chinese"),
    [
        ([], "", ""),
        (["a"], "a", "a"),
        (["a", "b"], "a and b", "a 和 b"),
        (["a", "b", "c"], "a, b and c", "a、b 和 c"),
    ],
)
def test_lists_are_joined_as_the_language_does(parts, english, chinese):
    assert join(parts) == english
    assert render(join(parts), "zh") == chinese


def test_empty_parts_leave_no_separator():
    assert chain(", ", ["", "a", "", "b"]).render("zh") == "a、b"
    assert chain("; ", ["", ""]) == ""


def test_latin_text_is_set_apart_from_chinese_and_chinese_is_not():
    for place, expected in (
        ("home", "在 home 时"),
        ("400 个用户", "在 400 个用户时"),
        ("家", "在家时"),
    ):
        text = say("Holds {rate} at {place}", rate="1", place=place)
        assert text.render("zh") == f"{expected}能承受 1"


def test_values_are_data_in_every_language():
    name = "<b>{rate}</b>  a  和  b"
    text = say("({why})", why=name)
    assert text == f"({name})"
    assert text.render("zh") == f"（{name}）"


def test_what_has_no_words_is_said_in_english():
    assert say("Nobody knows {this}", this="name").render("zh") == "Nobody knows name"


def test_a_change_is_made_in_every_language():
    text = changed(say("Holds {rate} at {place}", rate="1", place="a  b"), str.upper)
    assert (text, text.render("zh")) == ("HOLDS 1 AT A  B", "在 A  B 时能承受 1")
    assert one_line(text).render("zh") == "在 A B 时能承受 1"


def test_data_has_no_languages():
    assert render("held", "zh") == "held"
    assert as_json("held") == "held"


def test_a_copy_is_the_english_alone():
    text = say("({why})", why="so")
    copied = copy.deepcopy(text)
    assert (type(copied), copied) == (str, "(so)")
