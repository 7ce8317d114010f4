"""Conversations of `--prompt-tokens`, and their planned tokens."""

from __future__ import annotations

import pytest

from torr.options.stream import StreamOptions
from torr.planning.prompt_text import made_up as module
from torr.planning.prompt_text.lengths import read_lengths
from torr.planning.prompt_text.made_up import MOST_CONVERSATIONS, MOST_TOKENS, made_up
from torr.planning.prompt_text.words import USUAL


def conversations(lengths, template_tokens=0, **more):
    options = StreamOptions(prompt_tokens=read_lengths(lengths), **more)
    prompts, tokens = made_up(options, USUAL, 1, template_tokens)
    return prompts.conversations, tokens


def test_each_prompt_has_its_planned_tokens_and_groups_share_beginnings():
    rows, tokens = conversations("10..40", prefix_tokens=20, prefix_groups=4)
    assert tuple(len(first.split()) for (first,) in rows) == tokens
    assert (min(tokens), max(tokens)) == (30, 60)
    assert len({tuple(first.split()[:20]) for (first,) in rows}) == 4
    assert len(set(rows)) == len(rows) == MOST_CONVERSATIONS


def test_later_turns_have_texts_of_their_own():
    rows, _ = conversations("12", turns=3)
    assert len({turn for row in rows for turn in row}) == 3 * len(rows)
    assert {len(turn.split()) for row in rows for turn in row} == {12}


def test_batches_have_texts_of_their_own_and_the_sum_of_their_tokens():
    rows, tokens = conversations("10..40", batch=3, prefix_tokens=5)
    assert len(rows) == MOST_CONVERSATIONS
    assert tuple(sum(len(text.split()) for text in row) for row in rows) == tokens
    assert len({text for row in rows for text in row}) == 3 * len(rows)


def test_long_prompts_are_fewer():
    rows, tokens = conversations("100000")
    assert len(rows) * 100_000 == sum(tokens) == MOST_TOKENS


@pytest.mark.parametrize("batch", [1, 3])
def test_a_distribution_with_a_few_very_long_prompts_has_fewer_of_all(batch):
    rows, tokens = conversations("lognormal:4000,2", batch=batch)
    assert MOST_TOKENS / 2 < sum(tokens) <= MOST_TOKENS
    assert 10 < len(rows) == len(tokens) < MOST_CONVERSATIONS / batch
    assert {len(row) for row in rows} == {batch}


def test_there_is_always_one_request_and_one_of_each_group_where_lengths_are_equal(monkeypatch):
    monkeypatch.setattr(module, "MOST_TOKENS", 100)
    assert len(conversations("normal:500,1")[0]) == 1
    assert len(conversations("500", prefix_tokens=5, prefix_groups=4)[0]) == 4
    assert {len(row) for row in conversations("normal:500,1", batch=2)[0]} == {2}


def test_turns_count_for_how_many_conversations_there_are():
    rows, _ = conversations("lognormal:400,2", turns=12)
    words = sum(1 + turn.count(" ") for row in rows for turn in row)
    assert MOST_TOKENS / 2 < words <= MOST_TOKENS


def test_texts_are_shorter_by_the_tokens_of_a_chat_template():
    plain, planned = conversations("3..40", prefix_tokens=8)
    rows, tokens = conversations("3..40", 6, prefix_tokens=8)
    found = tuple(len(first.split()) for (first,) in rows)
    assert tokens == tuple(max(length, 8 + 1 + 6) for length in planned)
    assert found == tuple(length - 6 for length in tokens)
    assert len(plain) == len(rows)
