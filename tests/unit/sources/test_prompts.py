"""Prompts of a file, and the conversations that they make up."""

from __future__ import annotations

import json

import pytest

from torr.errors import FileError, UsageError
from torr.sources.prompts import Prompts, of_turns, ordered, read_prompts

SHARE_GPT = [
    {
        "id": "a",
        "conversations": [
            {"from": "human", "value": "Hi"},
            {"from": "gpt", "value": "Hello!"},
            {"from": "human", "value": "Bye"},
        ],
    },
    {"id": "b", "conversations": [{"from": "user", "value": "One"}]},
    {"id": "c", "conversations": [{"from": "gpt", "value": "nobody asked"}]},
]


@pytest.fixture
def file(tmp_path):
    """Write a file of prompts."""

    def write(text):
        path = tmp_path / "prompts"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_every_form_of_a_line_is_read(file):
    lines = '"plain"\n\n{"prompt": "p"}\n{"turns": ["a", "b"]}\n'
    assert read_prompts(file(lines)) == [("plain",), ("p",), ("a", "b")]


def test_only_a_line_feed_ends_a_line(file):
    assert read_prompts(file('"one\u2028prompt"\r\n"two"')) == [("one\u2028prompt",), ("two",)]


def test_of_sharegpt_the_human_turns_are_taken(file):
    assert read_prompts(file(json.dumps(SHARE_GPT))) == [("Hi", "Bye"), ("One",)]


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ('"a"\n{"prompt": \n', 2, "not JSON"),
        ('"a"\n\n{"text": "b"}\n', 3, "no prompt in this line"),
        ('{"turns": []}\n', 1, "no prompt in this line"),
        ('{"turns": [1]}\n', 1, "no prompt in this line"),
        ('"  "\n', 1, "empty"),
        ('"a"\n"\\ud83d"\n', 2, "half of a character"),
        ("", 1, "there is no prompt"),
        ('[{"id": 1}]', 1, "no conversations"),
        ("[{]", 1, "not JSON"),
    ],
)
def test_a_broken_line_is_named(file, text, line, says):
    with pytest.raises(FileError, match=says) as error:
        read_prompts(file(text))
    assert error.value.line == line


def test_what_is_no_utf8_is_refused(file):
    with pytest.raises(UsageError, match="byte 1 is not UTF-8"):
        read_prompts(file(b'"\xff"'))


def test_single_prompts_make_up_conversations_in_order():
    found = of_turns([(word,) for word in "abcde"], 2)
    assert found == Prompts((("a", "b"), ("c", "d")), left_out=1)
    with pytest.raises(UsageError, match="needs a prompt for each turn, and there are 5"):
        of_turns([(word,) for word in "abcde"], 6)


def test_of_longer_conversations_the_first_turns_are_taken():
    found = of_turns([("a", "b", "c"), ("d",), ("e", "f")], 2)
    assert found == Prompts((("a", "b"), ("e", "f")), left_out=1)
    with pytest.raises(UsageError, match="no conversation has so many turns") as error:
        of_turns([("a", "b", "c"), ("d",)], 4)
    assert "the longest has 3" in str(error.value.hint)


def test_shuffling_follows_the_seed_and_loses_none():
    prompts = Prompts(tuple((f"{n}",) for n in range(50)))
    assert ordered(prompts, "sequence", 1) is prompts
    shuffled = ordered(prompts, "shuffle", 1)
    assert shuffled == ordered(prompts, "shuffle", 1) != ordered(prompts, "shuffle", 2)
    assert sorted(shuffled.conversations) == sorted(prompts.conversations)
    assert shuffled.conversations != prompts.conversations
