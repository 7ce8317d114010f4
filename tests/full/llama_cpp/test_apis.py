"""Each API of llama.cpp's server: torr's tokens are those that the server counts."""

from __future__ import annotations

import json

import pytest

from torr.planning.prompt_text.prompt_text import ID_SEPARATOR, PromptText, id_words

USERS, REQUESTS, OUTPUT = 4, 20, 30
MODEL = ("--model", "m")
LOAD = ("-c", USERS, "--requests", REQUESTS, "--warmup", "0s")
# Ids of tokens that are words.
FIRST_ID, LAST_ID = 312, 431


def assert_counts_agree(level, counted):
    stream = level["stream"]
    assert level["counts"]["ok"] == level["counts"]["attempted"] == REQUESTS
    assert stream["tokens_in"] == counted.computed + counted.cached
    assert stream["tokens_cached"] == counted.cached
    assert stream["tokens_out"] == counted.generated
    assert (stream["tokens_unreported"], stream["tokens_reasoning"]) == (0, 0)


@pytest.mark.parametrize("api", ["openai", "completions", "responses"])
def test_tokens_are_those_of_the_server_and_outputs_as_long_as_asked(run, api):
    length = ("--output-tokens", OUTPUT, "--server", "llamacpp")
    level, counted = run("--chat", api, "--prompt", "ba ko di", *length, *MODEL, *LOAD)
    assert_counts_agree(level, counted)
    stream = level["stream"]
    assert counted.generated == REQUESTS * OUTPUT
    assert stream["length_check"] == {
        "requested": OUTPUT,
        "checked": REQUESTS,
        "different": 0,
    }
    assert counted.cached > 0
    assert stream["ttft_ms"]["n"] == REQUESTS
    # This server sends each token as an event of its own.
    assert stream["events"]["text"] == REQUESTS * OUTPUT


def test_messages_end_where_the_model_ends(run):
    words = ("--chat", "anthropic", *MODEL, "--prompt", "ba ko", "--max-tokens", OUTPUT)
    level, counted = run(*words, *LOAD)
    assert_counts_agree(level, counted)
    # The end of an output is a token without text.
    assert counted.generated - REQUESTS <= level["stream"]["events"]["text"] <= counted.generated


def test_a_prompt_of_token_ids_has_as_many_tokens(run):
    text = PromptText(id_words(FIRST_ID, LAST_ID), separator=ID_SEPARATOR).own(1, 321)
    body = {"prompt": json.loads(f"[{text}]"), "max_tokens": 5, "ignore_eos": True, "stream": True}
    words = ("--stream", "openai", "--json-body", json.dumps(body), *LOAD)
    level, counted = run(*words, path="/v1/completions")
    assert_counts_agree(level, counted)
    assert level["stream"]["tokens_in"] == 321 * REQUESTS


@pytest.mark.parametrize("length", [30, 200])
def test_a_prompt_has_its_length_with_the_chat_template(run, length):
    words = ("--chat", "openai", *MODEL, "--prompt-tokens", length, "--max-tokens", 5, *LOAD)
    level, counted = run(*words)
    assert_counts_agree(level, counted)
    assert level["stream"]["tokens_in"] == length * REQUESTS
