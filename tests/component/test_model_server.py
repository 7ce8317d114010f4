"""`torr target openai` with a limited KV cache, loaded by `torr run`: both sides agree."""

from __future__ import annotations

import json
import re
import urllib.request

import pytest

from installed import wait_until
from torr import targets

QUICK = ("--warmup", "0s", "--drain", "5s", "-q")
PROMPT = " ".join(f"w{number}" for number in range(40))
CHAT = ("--chat", "openai", "--model", "m", "--prompt", PROMPT)


def post(url, path, body):
    data = json.dumps(body).encode()
    request = urllib.request.Request(url + path, data)  # noqa: S310 - our own target
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
        return json.load(answer)


def metrics(url):
    """Return the samples of the target's page without buckets, summed over their labels."""
    with urllib.request.urlopen(f"{url}/metrics", timeout=30) as answer:  # noqa: S310
        page = answer.read().decode()
    found = {}
    for name, value in re.findall(r"^vllm:(\w+)\{[^}]*\} (\S+)$", page, re.MULTILINE):
        found[name] = found.get(name, 0) + float(value)
    return found


def test_metrics_of_the_target_are_those_of_the_load(torr, target):
    limits = ("--kv-tokens", "256", "--prefix-cache", "256", "--prefill", "50us")
    running = target("openai", "--tokens", "5..40", "--itl", "1ms", *limits)
    load = ("-c", "8", "--requests", "40", "--turns", "2")
    ended = torr("run", *CHAT, *load, *QUICK, running.url)
    page, stream = metrics(running.url), ended.level["stream"]
    counts = running.stop()
    assert ended.level["counts"]["ok"] == counts["calls"]["chat"] == 40
    assert counts["ends"] == {"ok": 41}
    assert page["prompt_tokens_total"] == stream["tokens_in"]
    assert page["generation_tokens_total"] == stream["tokens_out"]
    assert page["request_success_total"] == page["time_to_first_token_seconds_count"] == 40
    # The prompt is 2 blocks of 16 tokens, and 8 tokens.
    assert 0 < page["prefix_cache_hits_total"] < page["prefix_cache_queries_total"]
    assert page["num_requests_running"] == page["num_requests_waiting"] == 0
    assert page["num_preemptions_total"] > 0


def test_a_load_that_stops_early_cancels_its_requests(torr, target):
    running = target("openai", "--tokens", "1000", "--itl", "1s")
    torr("run", *CHAT, "-c", "5", "-z", "300ms", "--warmup", "0s", "--drain", "0s", running.url)
    wait_until(lambda: metrics(running.url)["num_requests_running"] == 0)
    counts = running.stop()
    assert counts["ends"]["cancelled"] == counts["calls"]["chat"] == 5
    assert sum(counts["ends"].values()) == counts["requests"]


def test_the_options_of_the_target_reach_it(target):
    cache = ("--prefix-cache", "1k", "--prefix-block", "4")
    running = target("openai", "--message-tokens", "4", *cache)
    messages = {"messages": [{"role": "user", "content": "one two three"}]}
    assert post(running.url, "/tokenize", messages)["count"] == 11
    chat = "/v1/chat/completions"
    cached = [
        post(running.url, chat, messages)["usage"]["prompt_tokens_details"]["cached_tokens"]
        for _ in range(2)
    ]
    assert cached == [0, 8]


def test_a_target_of_python_has_the_same_defaults():
    with targets.listening(targets.Chat("openai", tokens=targets.SameTokens(3))) as target:
        usage = post(target.url, "/v1/completions", {"prompt": [1, 2]})["usage"]
        assert usage == {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5}


def occupied_ms(torr, target, notice_after):
    """Return what torr says of a server that notices so late that its clients hung up."""
    tokens = ("--tokens", "1000", "--itl", "50ms")
    running = target("openai", *tokens, "--notice-after", notice_after)
    load = ("-c", "20", "-z", "8s", "--warmup", "3s", "--cancel", "100% after 200ms")
    monitor = ("--monitor", f"vllm:{running.url}/metrics")
    ended = torr("run", *CHAT, *load, *monitor, "--drain", "5s", "-q", running.url)
    (estimate,) = ended.result["after_giving_up"]
    assert estimate["cancelled"] >= 20, estimate
    assert estimate["low_ms"] <= estimate["occupied_ms"] <= estimate["high_ms"], estimate
    return estimate["occupied_ms"]


@pytest.mark.full
def test_the_time_until_a_server_notices_that_users_gave_up_is_in_the_result(torr, target):
    # However busy the machine is, no place is free before the server notices.
    late_ms = occupied_ms(torr, target, "1s")
    assert late_ms >= 900
    assert occupied_ms(torr, target, "0ms") < late_ms


def test_made_up_prompts_have_the_planned_length_by_tokenize(torr, target):
    running = target("openai", "--tokens", "1")
    words = ("--chat", "completions", "--model", "m", "--prompt-tokens", "200")
    ended = torr("run", *words, "-c", "4", "--requests", "20", *QUICK, running.url)
    lengths = ended.level["stream"]["prompt_lengths"]
    assert (lengths["checked"], lengths["planned_mean"]) == (20, 200)
    assert abs(lengths["difference_mean"]) <= 1


def test_messages_have_the_planned_length_with_the_chat_template(torr, target):
    running = target("openai", "--tokens", "1", "--message-tokens", "3")
    words = ("--chat", "openai", "--model", "m", "--prompt-tokens", "30..90")
    load = ("-c", "1", "--requests", "10", "--warmup", "0s", "--drain", "5s")
    ended = torr("run", *words, "--prefix-tokens", "20", *load, running.url)
    lengths = ended.level["stream"]["prompt_lengths"]
    assert (lengths["checked"], lengths["difference_mean"]) == (10, 0)
    assert "each prompt has 6 tokens of the chat template" in ended.err


@pytest.mark.parametrize(("server", "is_kept"), [(("--server", "vllm"), True), ((), False)])
def test_outputs_have_the_planned_lengths_if_the_server_is_made_to_continue(
    torr, target, server, is_kept
):
    # Its own answers are shorter than those that are asked for.
    running = target("openai", "--tokens", "2")
    words = ("--chat", "openai", "--model", "m", "--prompt", "p", "--output-tokens", "3..3000")
    load = ("-c", "1", "--requests", "10", "--warmup", "0s", "--drain", "5s")
    level = torr("run", *words, *server, *load, running.url).level
    lengths = level["stream"]["output_lengths"]
    assert lengths["checked"] == 10
    assert (lengths["difference_mean"] == 0) is is_kept
    codes = [warning["code"] for warning in level["warnings"]]
    assert ("warning.output_length_differs" in codes) is not is_kept


def test_prompts_of_token_ids_have_exactly_the_planned_length(torr, target, ids_tokenizer):
    running = target("openai", "--tokens", "1", "--prefix-cache", "1m")
    words = ("--chat", "completions", "--model", "m", "--prompt-tokens", "30..90", "--token-ids")
    shared = ("--prefix-tokens", "64", "--tokenizer", str(ids_tokenizer))
    load = ("-c", "1", "--requests", "20", "--warmup", "0s", "--drain", "5s")
    ended = torr("run", *words, *shared, *load, running.url)
    stream = ended.level["stream"]
    lengths = stream["prompt_lengths"]
    assert (lengths["checked"], lengths["difference_mean"]) == (20, 0)
    assert stream["tokens_cached"] >= 19 * 64
    assert "prompt lengths are exact: prompts are token ids of" in ended.err


def test_a_planned_share_of_prefixes_is_the_share_of_hits(torr, target):
    running = target("openai", "--tokens", "1", "--prefix-cache", "1m")
    words = ("--chat", "completions", "--model", "m", "--prompt-tokens", "160")
    shared = ("--prefix-tokens", "160", "-c", "1", "--requests", "60")
    ended = torr("run", *words, *shared, *QUICK, running.url)
    stream = ended.level["stream"]
    # The first prompt finds nothing: 59 of 60 have half of their tokens in the cache.
    assert abs(100 * stream["tokens_cached"] / stream["tokens_in"] - 50) <= 2
