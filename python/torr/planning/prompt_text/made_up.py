"""Made-up prompts of `--prompt-tokens`, as the rows of a chat."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from torr.planning.prompt_text.lengths import Lengths
from torr.planning.prompt_text.prefix_groups import PrefixGroups
from torr.planning.prompt_text.prompt_text import ID_SEPARATOR, PromptText
from torr.sources.prompts import Prompts, in_batches

if TYPE_CHECKING:
    from torr.options.stream import StreamOptions
    from torr.planning.prompt_text.words import Words

MOST_CONVERSATIONS = 1000
MOST_TOKENS = 4_000_000
"""Tokens of all conversations, since they are in memory."""


def made_up(
    options: StreamOptions, words: Words, seed: int, template_tokens: int = 0
) -> tuple[Prompts, tuple[int, ...]]:
    """Return conversations or batches, and the planned tokens of the first request of each.

    `template_tokens` are those that the server adds to a prompt.
    """
    lengths = options.prompt_tokens
    if lengths is None:
        return Prompts(()), ()
    groups = options.prefix_groups or 1
    prefix = options.prefix_tokens or 0
    text = PromptText(words, seed, ID_SEPARATOR if options.token_ids else " ")
    batch = options.batch
    typical = batch * (prefix + options.turns * lengths.typical)
    requests = _per_group(groups, typical)
    # Distributions have a few very long ones.
    left = max(MOST_TOKENS, groups * requests * typical)
    shared = Lengths("same", prefix)
    grouped = PrefixGroups(groups, batch * requests, shared, lengths, template_tokens)
    turns = range(2, options.turns + 1)
    conversations: list[tuple[str, ...]] = []
    tokens: list[int] = []
    for prompt in grouped.prompts(text, seed):
        planned = prefix + grouped.own_tokens(prompt.number, seed) + template_tokens
        added = [grouped.turn_tokens(prompt.number, turn, seed) for turn in turns]
        left -= planned + sum(added)
        if left < 0 and len(tokens) >= batch:
            break
        later = map(partial(text.turn, prompt.number), turns, added)
        conversations.append((text.joined(prompt.prefix, prompt.own), *later))
        tokens.append(planned)
    whole = len(tokens) // batch * batch
    prompts = Prompts(tuple(conversations[:whole]))
    tokens = tokens[:whole]
    if batch == 1:
        return prompts, tuple(tokens)
    sums = (sum(tokens[start : start + batch]) for start in range(0, len(tokens), batch))
    return in_batches(prompts, batch), tuple(sums)


def _per_group(groups: int, tokens: float) -> int:
    """Return how many requests of so many tokens each group has, so that all fit into memory."""
    most = min(MOST_CONVERSATIONS, round(MOST_TOKENS / tokens))
    return max(1, most // groups)
