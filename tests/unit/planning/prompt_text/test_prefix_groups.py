"""Prompts of groups."""

from __future__ import annotations

from collections import Counter

from torr.planning.prompt_text.lengths import Lengths, read_lengths
from torr.planning.prompt_text.prefix_groups import PrefixGroups
from torr.planning.prompt_text.prompt_text import PromptText
from torr.planning.prompt_text.words import USUAL

TEXT = PromptText(USUAL)


def test_all_prompts_of_a_group_have_its_beginning_and_a_text_of_their_own():
    groups = PrefixGroups(4, 5, Lengths("same", 30), Lengths("same", 12))
    prompts = list(groups.prompts(TEXT))
    assert sorted(prompt.number for prompt in prompts) == list(range(20))
    assert set(Counter(prompt.group for prompt in prompts).values()) == {5}
    assert len({prompt.prefix for prompt in prompts}) == 4
    assert len({(prompt.group, prompt.prefix) for prompt in prompts}) == 4
    assert len({prompt.own for prompt in prompts}) == 20
    assert {len(TEXT.joined(each.prefix, each.own).split()) for each in prompts} == {42}


def test_prompts_are_in_an_order_that_the_seed_decides():
    groups = PrefixGroups(5, 20, Lengths("same", 1), Lengths("same", 1))
    orders = [[each.number for each in groups.prompts(TEXT, seed)] for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert orders[0] != sorted(orders[0])


def test_lengths_belong_to_the_group_and_the_prompt_not_to_the_order():
    groups = PrefixGroups(3, 9, read_lengths("10..90"), read_lengths("1..50"))
    prompts = list(groups.prompts(TEXT, seed=4))
    prefixes = {(each.group, len(each.prefix.split())) for each in prompts}
    assert len(prefixes) == 3
    assert len({length for _, length in prefixes}) > 1
    assert len({len(each.own.split()) for each in prompts}) > 5
