"""Lengths of prompts, with words that `/tokenize` of llama.cpp's server has confirmed."""

from __future__ import annotations

import pytest

from llama_server import llama_server
from torr.model.url import Url
from torr.planning.prompt_text.prompt_text import PromptText
from torr.planning.prompt_text.server_tokenizer import ServerTokenizer
from torr.planning.prompt_text.words import calibrated

LENGTHS = (1, 2, 3, 17, 100, 511, 512, 513, 2000)
BEGIN = 1
"""The token that the server sets before each prompt."""


@pytest.fixture(scope="module", params=[(), ("--letters",)], ids=["words", "letters"])
def server(tmp_path_factory, request):
    """Return a server whose tokens are words, and one whose tokens are letters."""
    with llama_server(tmp_path_factory.mktemp("model"), *request.param) as running:
        yield running


def test_prompts_have_the_wanted_length_by_the_count_of_the_server(server):
    words = calibrated(ServerTokenizer(Url.parse(server.url)))
    assert words.is_exact
    text = PromptText(words)
    for number, tokens in enumerate(LENGTHS):
        found = server.prompt_tokens(text.own(number, tokens)) - BEGIN
        # No text is shorter than a word.
        assert abs(found - max(tokens, words.tokens)) <= 1, (words.tokens, tokens)
