"""Tokenizers of which tests know what they do."""

from __future__ import annotations

import random

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from torr.planning.prompt_text.words import CANDIDATES


class Counter:
    """Counts the tokens that a function makes of a text."""

    def __init__(self, tokens_of):
        self.tokens_of = tokens_of
        self.calls = 0

    def count(self, texts):
        self.calls += 1
        return [len(self.tokens_of(text)) for text in texts]


@pytest.fixture
def by_words():
    """Each word is a token."""
    return Counter(str.split)


@pytest.fixture
def by_bytes():
    """Each byte is a token, as where a tokenizer has no words."""
    return Counter(str.encode)


@pytest.fixture(scope="session")
def by_pairs():
    """A tokenizer of joined bytes, trained on some of the candidates: it has tokens for those."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=900,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    draw = random.Random(1)
    known = CANDIDATES[::3]
    texts = [" ".join(draw.choices(known, k=500)) for _ in range(20)]
    tokenizer.train_from_iterator([*texts, *known], trainer)
    return Counter(lambda text: tokenizer.encode(text).ids)
