"""A number of tokens is asked for as each server understands it."""

from __future__ import annotations

import pytest

from planned import URL, filled, requests_of

LENGTHS = {"max_completion_tokens", "max_tokens", "max_output_tokens", "min_tokens", "ignore_eos"}


def lengths(torr, fake, api, *more):
    ended = torr("run", "--chat", api, "--model", "m", "--prompt", "p", *more, URL)
    assert ended.code == 0, ended.err
    (request,) = requests_of(fake)
    members = {name: value for name, value in filled(request).items() if name in LENGTHS}
    return members, request["stream"].get("output_tokens")


@pytest.mark.parametrize(
    ("api", "server", "members"),
    [
        ("openai", "vllm", {"max_tokens": 9, "ignore_eos": True, "min_tokens": 9}),
        ("openai", "sglang", {"max_tokens": 9, "ignore_eos": True, "min_tokens": 9}),
        ("openai", "trtllm", {"max_tokens": 9, "ignore_eos": True, "min_tokens": 9}),
        ("openai", "llamacpp", {"max_tokens": 9, "ignore_eos": True}),
        ("openai", "tgi", {"max_tokens": 9}),
        ("openai", "ollama", {"max_tokens": 9}),
        ("completions", "vllm", {"max_tokens": 9, "ignore_eos": True, "min_tokens": 9}),
        ("responses", "vllm", {"max_output_tokens": 9, "ignore_eos": True}),
        ("responses", "sglang", {"max_output_tokens": 9, "ignore_eos": True, "min_tokens": 9}),
        ("anthropic", "llamacpp", {"max_tokens": 9}),
    ],
)
def test_each_server_has_its_own_members(torr, fake, api, server, members):
    more = ("--output-tokens", "9", "--server", server)
    assert lengths(torr, fake, api, *more) == (members, 9)


def test_without_a_server_the_length_is_only_limited(torr, fake):
    assert lengths(torr, fake, "openai", "--output-tokens", "9") == (
        {"max_completion_tokens": 9},
        9,
    )


def test_a_limit_is_no_length_to_check(torr, fake):
    assert lengths(torr, fake, "anthropic", "--max-tokens", "9") == ({"max_tokens": 9}, None)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--server", "vllm"), "--server needs --output-tokens"),
        (("--output-tokens", "9", "--max-tokens", "9"), "--max-tokens and --output-tokens"),
        (("--output-tokens", "9", "--server", "abacus"), "abacus"),
    ],
)
def test_what_does_not_go_together_is_refused(torr, fake, words, says):
    ended = torr("run", "--chat", "openai", "--model", "m", "--prompt", "p", *words, URL)
    assert (ended.code, fake.loads) == (2, [])
    assert says in ended.err
