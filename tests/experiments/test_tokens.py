"""What a tokenizer makes of a level, by hand-counted streams."""

from __future__ import annotations

import json

import pytest

from torr.experiments.tokens import with_tokens
from torr.stats.tokenizer import read_tokenizer

MS = 1_000_000


def told(**changes):
    line = {
        "text": "one two three four",
        "thought": "",
        "first": "one",
        "span_ns": 30 * MS,
        "tokens": 7,
        "is_cut": False,
        "is_spread": True,
        "is_inside": True,
        "name": "chat",
    }
    return {**line, **changes}


@pytest.fixture
def counted(tmp_path, words_tokenizer):
    def counting(*lines):
        texts = tmp_path / "texts.jsonl"
        texts.write_text("".join(json.dumps(line) + "\n" for line in lines))
        stream = {"tpot_ms": None, "tokens_out": 7}
        level = {
            "seconds": 2.0,
            "stream": stream,
            "histograms": {"ttft": "kept"},
            "steps": [{"name": "chat", "stream": stream}, {"name": "other", "stream": None}],
        }
        level = with_tokens(level, texts, read_tokenizer(str(words_tokenizer)))
        assert not texts.exists()
        return level

    return counting


def test_both_counts_have_their_own_time_for_each_token(counted):
    stream = counted(told(first="one two"))["stream"]
    # By the server's seven tokens, two of them in the first piece; and by the tokenizer's four.
    assert stream["tpot_ms"]["mean"] == 6
    assert stream["tokenizer"]["tpot_ms"]["mean"] == 15
    assert (stream["tpot_first"], stream["tokens_out"]) == ("tokenizer", 7)


def test_thoughts_count_and_are_told_apart(counted):
    stream = counted(told(thought="so be it", first="so"), told(is_inside=False))["stream"]
    tokenizer = stream["tokenizer"]
    assert (tokenizer["tokens_out"], tokenizer["tokens_reasoning"]) == (11, 3)
    # Seven tokens in two seconds: the second stream ended after the window.
    assert tokenizer["tokens_per_s"] == 3.5
    assert (tokenizer["file"], tokenizer["uncounted"]) == ("words.json", 0)


@pytest.mark.parametrize(
    "changes", [{"is_spread": False}, {"tokens": 1}, {"tokens": None}, {"is_cut": True}]
)
def test_a_time_that_is_not_defined_is_left_out(counted, changes):
    stream = counted(told(**changes))["stream"]
    assert stream["tpot_ms"] is None
    assert stream["tokenizer"]["uncounted"] == int("is_cut" in changes)


def test_steps_have_their_own_and_what_streams_not_has_none(counted):
    level = counted(told(), told(name="more"))
    chat, other = level["steps"]
    assert chat["stream"]["tokenizer"]["tokens_out"] == 4
    assert level["stream"]["tokenizer"]["tokens_out"] == 8
    assert other["stream"] is None
    assert level["histograms"]["ttft"] == "kept"
    assert level["histograms"]["tpot"]
