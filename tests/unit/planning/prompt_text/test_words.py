"""Words whose number of tokens is known."""

from __future__ import annotations

import random

import pytest

from torr.errors import UsageError
from torr.planning.prompt_text.words import (
    CANDIDATES,
    LEAST_WORDS,
    USUAL,
    USUAL_WORDS,
    Words,
    calibrated,
)


def test_candidates_are_different_words():
    assert len(set(CANDIDATES)) == len(CANDIDATES)
    assert set(USUAL_WORDS) <= set(CANDIDATES)
    assert all(word.isascii() and word.isalpha() and len(word) in {2, 3} for word in CANDIDATES)
    assert not USUAL.is_exact


def test_the_usual_words_are_taken_where_each_is_a_token(by_words):
    assert calibrated(by_words) == Words(USUAL_WORDS, is_exact=True)
    assert by_words.calls == 1


def test_words_of_one_token_are_chosen(by_pairs):
    words = calibrated(by_pairs)
    assert words.tokens == 1
    assert words.is_exact
    assert LEAST_WORDS <= len(words.words) < len(CANDIDATES)
    text = random.Random(5).choices(words.words, k=2000)
    assert by_pairs.count([" ".join(text), text[0], " ".join(text[:3])]) == [2000, 1, 3]


def test_where_no_word_is_a_token_words_have_equally_many(by_bytes):
    words = calibrated(by_bytes)
    # A syllable of two letters and a space; those of three letters are longer by one.
    assert words.tokens == 3
    assert {len(word) for word in words.words} == {2}
    assert {len(word) for word in words.longer} == {3}


def test_few_requests_are_made(by_pairs):
    before = by_pairs.calls
    calibrated(by_pairs)
    assert by_pairs.calls - before <= 5


class Joining:
    """A tokenizer for which two words are less than the sum of their tokens."""

    def count(self, texts):
        return [len(text.split()) // 2 + 1 for text in texts]


def test_a_tokenizer_that_joins_words_is_refused():
    with pytest.raises(UsageError, match="no words that always have the same number"):
        calibrated(Joining())


@pytest.mark.parametrize(
    ("tokens", "words", "longer"),
    [(1, 1, 0), (3, 1, 0), (4, 1, 1), (5, 1, 1), (8, 2, 2), (16, 5, 1)],
)
def test_a_length_is_filled_up_by_longer_words(tokens, words, longer):
    of_three = Words(("ab",), 3, ("abc",))
    assert (of_three.number_of(tokens), of_three.left_over(tokens)) == (words, longer)
