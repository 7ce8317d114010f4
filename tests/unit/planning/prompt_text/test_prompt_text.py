"""Texts have the lengths and the shared beginnings that they should."""

from __future__ import annotations

import json
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torr.errors import UsageError
from torr.planning.prompt_text.pool import POOL_WORDS
from torr.planning.prompt_text.prompt_text import ID_SEPARATOR, PromptText, id_words
from torr.planning.prompt_text.words import USUAL, Words, calibrated
from traces import row, with_blocks

LENGTHS = (1, 2, 3, 5, 16, 17, 511, 512)
TEXT, AGAIN = PromptText(USUAL), PromptText(USUAL)
FEW = PromptText(Words(tuple("abcdef")))
IDS = st.integers(0, 2**70)


@pytest.fixture(params=["by_words", "by_pairs", "by_bytes"])
def counter(request):
    return request.getfixturevalue(request.param)


def test_a_text_has_the_tokens_that_it_should(counter):
    text = PromptText(calibrated(counter))
    for tokens in (4, 16, 17, 18, 511, 512, 3000):
        (found,) = counter.count([text.own(7, tokens)])
        # The first of bytes has no space before it.
        assert tokens - 1 <= found <= tokens
        assert found == tokens or text.words.tokens > 1


@pytest.mark.parametrize("tokens", [POOL_WORDS - 1, POOL_WORDS + 1025, 3 * POOL_WORDS + 5])
def test_a_text_may_be_longer_than_the_pool(tokens):
    words = TEXT.own(7, tokens).split(" ")
    assert len(words) == tokens
    assert set(words) <= set(USUAL.words)


def test_a_prompt_of_blocks_has_the_tokens_that_it_should(counter):
    text = PromptText(calibrated(counter))
    for tokens in (512, 1000, 2048, 2050):
        prompt = text.of_row(with_blocks(3, [5, 6, 7, 8], tokens=tokens, block_tokens=512))
        assert tokens - 1 <= counter.count([prompt])[0] <= tokens


def test_equal_beginnings_of_blocks_are_equal_tokens(by_pairs):
    text = PromptText(calibrated(by_pairs))
    one = by_pairs.tokens_of(text.of_row(with_blocks(0, [1, 2, 3, 4], tokens=60)))
    other = by_pairs.tokens_of(text.of_row(with_blocks(1, [1, 2, 3, 5, 6])))
    assert one[:48] == other[:48]
    assert one[48] != other[48]


@settings(max_examples=50)
@given(IDS, IDS)
def test_texts_of_two_ids_are_equal_only_if_the_ids_are(one, other):
    for text in (TEXT, FEW):
        first, second = (" ".join(text._name(key)) for key in (one, other))
        assert (first == second) == (one == other)
        # So that a text cannot continue as another one's name.
        assert one == other or not f"{second} ".startswith(f"{first} ")
    if max(one, other) < 2**50:
        blocks = [TEXT.of_row(with_blocks(0, [each])) for each in (one, other)]
        assert (blocks[0] == blocks[1]) == (one == other)


@settings(max_examples=30)
@given(st.integers(0, 2**40), st.sampled_from(LENGTHS))
def test_the_same_key_gives_the_same_text(number, tokens):
    for kind in ("own", "group"):
        text = getattr(TEXT, kind)(number, tokens)
        assert getattr(AGAIN, kind)(number, tokens) == text
        assert len(text.split(" ")) == tokens


def test_texts_stay_the_same_in_every_version():
    assert PromptText(USUAL, seed=5).own(12345, 8) == SEEN[0]
    assert PromptText(USUAL, seed=6).own(12345, 8) == SEEN[1]


SEEN = ("de se mi ob sa ri ri in", "ot an or tu ib ar uk id")


def test_texts_for_different_purposes_differ():
    texts = {
        TEXT.own(1, 16),
        TEXT.own(2, 16),
        TEXT.group(1, 16),
        TEXT.turn(1, 1, 16),
        TEXT.turn(1, 2, 16),
        TEXT.turn(2, 1, 16),
        TEXT.of_row(with_blocks(0, [1])),
        PromptText(USUAL, seed=2).own(1, 16),
    }
    assert len(texts) == 8


def test_tokens_without_an_id_are_those_of_the_row():
    one, other = (TEXT.of_row(with_blocks(n, [1, 2], tokens=70)) for n in (0, 1))
    words = one.split(), other.split()
    assert [len(each) for each in words] == [70, 70]
    assert words[0][:32] == words[1][:32]
    assert words[0][32:40] != words[1][32:40]
    alone = TEXT.of_row(row(0, input_tokens=9))
    assert alone == TEXT.own(0, 9)


def test_the_last_block_is_cut():
    whole = TEXT.of_row(with_blocks(0, [1, 2]))
    assert TEXT.of_row(with_blocks(1, [1, 2], tokens=27)) == " ".join(whole.split()[:27])


def test_more_ids_than_a_prompt_has_blocks_are_not_used():
    assert TEXT.of_row(with_blocks(0, [1, 2, 3], tokens=16)) == TEXT.of_row(with_blocks(1, [1]))


def test_a_prompt_is_shorter_by_the_tokens_that_the_server_adds():
    shorter = PromptText(USUAL, template_tokens=20)
    whole = TEXT.of_row(with_blocks(0, [1, 2, 3])).split()
    assert shorter.of_row(with_blocks(0, [1, 2, 3])).split() == whole[:28]
    assert shorter.of_row(row(0, input_tokens=9)) == TEXT.own(0, 1)
    assert shorter.own(0, 30) == TEXT.own(0, 30)


def test_a_block_that_is_too_short_for_its_id_is_refused():
    few = PromptText(Words(tuple("abcd")))
    assert few.of_row(with_blocks(0, [5], block_tokens=8))
    with pytest.raises(UsageError, match="a block of 8 tokens is too short"):
        few.of_row(with_blocks(0, [1000], block_tokens=8))


def test_an_empty_text_has_no_words():
    assert TEXT.own(1, 0) == TEXT.joined("", "") == ""
    assert TEXT.joined("a", "", "b") == "a b"


def test_token_ids_are_a_list_in_json():
    text = PromptText(id_words(1000, 2000), separator=ID_SEPARATOR)
    prompts = [
        json.loads(f"[{text.of_row(with_blocks(0, ids, tokens=tokens))}]")
        for ids, tokens in (([1, 2, 3], 48), ([1, 2, 4], 40))
    ]
    assert [len(prompt) for prompt in prompts] == [48, 40]
    assert all(1000 <= token < 2000 for prompt in prompts for token in prompt)
    assert prompts[0][:32] == prompts[1][:32]
    assert prompts[0][32] != prompts[1][32]
    with pytest.raises(UsageError, match="no token ids between 5 and 6"):
        id_words(5, 6)


def test_the_texts_of_blocks_are_kept_up_to_a_size():
    text = PromptText(USUAL, cache_bytes=200_000)
    expected = PromptText(USUAL)
    tracemalloc.start()
    for number in range(200):
        text.of_row(
            with_blocks(number, [0, *range(number * 3 + 1, number * 3 + 4)], block_tokens=512)
        )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # All of them have 900 kB.
    assert peak < 300_000
    for ids in ([0, 1], [0, 599]):
        same = with_blocks(0, ids, block_tokens=512)
        assert text.of_row(same) == expected.of_row(same)


def test_blocks_of_another_length_are_other_texts():
    text = PromptText(USUAL)
    long = text.of_row(with_blocks(0, [1], block_tokens=64))
    short = text.of_row(with_blocks(0, [1], block_tokens=16))
    assert long.split()[:16] == short.split()
    assert text.of_row(with_blocks(0, [1], block_tokens=64)) == long
