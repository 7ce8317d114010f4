"""A number of tokens is asked for as each server understands it."""

from __future__ import annotations

import pytest

from planned import URL, body_of, filled, group_of, requests_of

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


SOME = ("run", "--chat", "openai", "--model", "m", "--output-tokens", "5..90")


def outputs(data, turn):
    place = data["columns"].index(f"output_{turn}")
    return [int(row[place]) for row in data["rows"]]


def test_outputs_may_have_different_lengths(torr, fake):
    ended = torr(*SOME, "--prompt", "p", "--turns", "2", "--server", "vllm", URL)
    assert ended.code == 0, ended.err
    for turn, request in enumerate(requests_of(fake), start=1):
        body = body_of(request)
        place = f"{{{{row.output_{turn}}}}}"
        assert f'"max_tokens": {place}' in body
        assert f'"min_tokens": {place}' in body
        assert "output_tokens" not in request["stream"]
    data = group_of(fake)["data"]
    # A prompt alone is repeated, since its outputs differ.
    assert {row[0] for row in data["rows"]} == {"p"}
    assert {row[1] for row in data["rows"]} == {"p"}
    first, second = outputs(data, 1), outputs(data, 2)
    assert len(first) == 1000
    assert set(first) == set(second) == set(range(5, 91))
    assert first != second
    rows = fake.loads[-1].plan.groups[0].data
    assert (list(rows.output_tokens), rows.distinct) == (first, 1)


def test_made_up_prompts_have_outputs_of_their_own_length(torr, fake):
    torr(*SOME, "--prompt-tokens", "30", URL)
    data = group_of(fake)["data"]
    rows = fake.loads[-1].plan.groups[0].data
    assert (len(rows.tokens), rows.distinct) == (len(data["rows"]), len(data["rows"]))
    assert len({row[0] for row in data["rows"]}) == len(data["rows"])
    first = outputs(data, 1)
    fake.loads.clear()
    torr(*SOME, "--prompt-tokens", "30", URL)
    assert outputs(group_of(fake)["data"], 1) == first
    fake.loads.clear()
    torr(*SOME, "--prompt-tokens", "30", "--seed", "9", URL)
    assert outputs(group_of(fake)["data"], 1) != first


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--output-tokens", "9-12"), "9..12"),
        (("--server", "vllm"), "--server needs --output-tokens"),
        (("--output-tokens", "9", "--max-tokens", "9"), "--max-tokens and --output-tokens"),
        (("--output-tokens", "9", "--server", "abacus"), "abacus"),
    ],
)
def test_what_does_not_go_together_is_refused(torr, fake, words, says):
    ended = torr("run", "--chat", "openai", "--model", "m", "--prompt", "p", *words, URL)
    assert (ended.code, fake.loads) == (2, [])
    assert says in ended.err
