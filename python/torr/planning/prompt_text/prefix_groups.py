"""Prompts that share beginnings: groups of prompts.

A server with a prefix cache computes the beginning of a group once, if it still has it when another
prompt of the group comes.
"""

from __future__ import annotations

import random
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.planning.prompt_text.lengths import Lengths
    from torr.planning.prompt_text.prompt_text import PromptText

MOST_PROMPTS = 100_000_000
"""The most prompts of all groups: their order is in memory, 8 bytes each."""


@dataclass(frozen=True, slots=True)
class GroupedPrompt:
    """A prompt: the beginning that its group shares, and a text of its own."""

    number: int
    group: int
    prefix: str
    own: str


@dataclass(frozen=True, slots=True)
class PrefixGroups:
    """`groups` beginnings of `prefix_tokens`, each with `prompts_per_group` prompts.

    `prompt_tokens` are those behind the beginning; the server adds `template_tokens` of them.
    All prompts of a group have one beginning; all prompts of all groups are in a random order.
    """

    groups: int
    prompts_per_group: int
    prefix_tokens: Lengths
    prompt_tokens: Lengths
    template_tokens: int = 0

    def prompts(self, text: PromptText, seed: int = 1) -> Iterator[GroupedPrompt]:
        """Yield each prompt once, in an order that the seed decides."""
        order = array("Q", range(self.groups * self.prompts_per_group))
        random.Random(seed).shuffle(order)  # noqa: S311 - no secret
        for number in order:
            group = number // self.prompts_per_group
            yield GroupedPrompt(
                number,
                group,
                text.group(group, self._drawn(self.prefix_tokens, seed, "group", group)),
                text.own(number, self.own_tokens(number, seed)),
            )

    def own_tokens(self, number: int, seed: int) -> int:
        """Return how many tokens of text a prompt has behind its beginning, at least one."""
        drawn = self._drawn(self.prompt_tokens, seed, "prompt", number)
        return max(1, drawn - self.template_tokens)

    def turn_tokens(self, number: int, turn: int, seed: int) -> int:
        """Return how many tokens a later turn of a prompt's conversation adds."""
        return self._drawn(self.prompt_tokens, seed, f"turn {turn} of", number)

    @staticmethod
    def _drawn(lengths: Lengths, seed: int, what: str, number: int) -> int:
        """Return the length of a group or prompt, which does not depend on the order."""
        if lengths.kind == "same":
            return int(lengths.first)
        return lengths.draw(random.Random(f"{seed} {what} {number}"))  # noqa: S311 - no secret
