"""A tokenizer counts, and says what is wrong with its file."""

from __future__ import annotations

import sys

import pytest

from torr.errors import UsageError
from torr.stats.tokenizer import read_tokenizer


def test_tokens_are_counted_without_those_around_the_text(words_tokenizer):
    tokenizer = read_tokenizer(str(words_tokenizer))
    assert tokenizer.name == "words.json"
    assert tokenizer.count(["one two  three", "", "你好"]) == [3, 0, 1]


def test_ids_of_texts_are_the_longest_range_without_special_ones(ids_tokenizer, words_tokenizer):
    assert read_tokenizer(str(ids_tokenizer)).text_ids() == range(11, 999)
    assert read_tokenizer(str(words_tokenizer)).text_ids() == range(1)


def test_what_is_no_tokenizer_is_told(tmp_path):
    (tmp_path / "no.json").write_text('{"words": 1}')
    with pytest.raises(UsageError, match=r"no\.json: not a tokenizer"):
        read_tokenizer(str(tmp_path / "no.json"))


def test_without_the_library_it_says_how_to_get_it(monkeypatch, words_tokenizer):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(UsageError) as caught:
        read_tokenizer(str(words_tokenizer))
    assert "torr[tokenizer]" in caught.value.hint
