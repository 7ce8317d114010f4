"""Metrics, users who give up, shared prefixes and sessions against llama.cpp's server."""

from __future__ import annotations

import json
import random

import pytest

from installed import wait_until
from torr.sources.traces.prefix_share import PrefixShare
from torr.sources.traces.reader import read_trace

CHAT = ("--chat", "openai", "--model", "m")
EXACT = ("--server", "llamacpp")
BLOCK = 512


def test_the_monitor_reads_what_the_server_and_the_clients_count(run, server):
    # Outputs are short: those under way at the last reading are few.
    words = ("--prompt", "ba ko di", "--output-tokens", 8, *EXACT, "-c", 2, "-z", "10s")
    level, counted = run(*CHAT, *words, "--warmup", "0s", "--monitor", f"llamacpp:{server.url}")
    serving = level["monitor"]["serving"]
    (source,) = serving["sources"]
    assert source["error"] is None
    seen = sum(
        rate * seconds
        for rate, seconds in zip(source["generated_tokens_per_s"], source["seconds"], strict=True)
        if rate is not None
    )
    assert seen == pytest.approx(counted.generated, rel=0.05)
    assert level["stream"]["tokens_out"] == pytest.approx(counted.generated, rel=0.05)
    hits = 100 * counted.cached / (counted.cached + counted.computed)
    assert serving["derived"]["prefix_hit_rate"] == pytest.approx(hits, abs=2)
    assert serving["derived"]["running_max"] <= 2


def test_the_slots_of_users_who_give_up_are_free_for_others(run, server):
    # There are more users than slots: later ones wait for the slots of those who gave up.
    long, requests = 3000, 16
    words = ("--prompt", "ba ko", "--output-tokens", long, *EXACT, "-c", 8, "--warmup", "0s")
    level, counted = run(*CHAT, *words, "--requests", requests, "--cancel", "100% after 3 tokens")
    assert level["counts"]["cancelled"] == requests
    wait_until(lambda: server.busy_slots() == 0)
    texts = level["stream"]["events"]["text"]
    assert 3 * requests <= texts <= counted.generated
    assert counted.generated < requests * long / 2


def test_the_share_of_prefix_hits_is_that_of_the_trace(run, tmp_path):
    # Each slot has a group of requests, which share one to three blocks; the rest is their own.
    draw, rows = random.Random(1), []
    for number in range(16):
        group = draw.randrange(4)
        shared = [10 * group + block for block in range(1 + group % 3)]
        rows.append(
            {
                "timestamp": 10 * number,
                "input_length": BLOCK * len(shared) + 200,
                "output_length": 2,
                "hash_ids": [*shared, 1000 + number],
            }
        )
    trace = tmp_path / "trace.jsonl"
    trace.write_text("".join(json.dumps(row) + "\n" for row in rows))
    share = PrefixShare()
    for row in read_trace(trace, "mooncake"):
        share.add(row)
    level, counted = run(*CHAT, "--trace", trace, *EXACT, "-c", 1)
    stream = level["stream"]
    assert level["counts"]["ok"] == len(rows)
    assert stream["tokens_cached"] == counted.cached
    assert stream["tokens_out"] == 2 * len(rows)
    hits = 100 * stream["tokens_cached"] / stream["tokens_in"]
    assert hits == pytest.approx(100 * share.of_tokens, abs=2)
    assert 20 < hits < 80


def test_a_second_turn_finds_the_first_one_and_its_answer_in_the_cache(run, tmp_path):
    sessions, answer = 3, 20
    questions = [" ".join(random.Random(n).choices(("ba", "ko", "di"), k=60)) for n in range(6)]
    chats = [
        {
            "id": str(session),
            "conversations": [
                {"from": "human", "value": questions[2 * session]},
                {"from": "gpt", "value": "recorded"},
                {"from": "human", "value": questions[2 * session + 1]},
                {"from": "gpt", "value": "recorded"},
            ],
        }
        for session in range(sessions)
    ]
    trace = tmp_path / "chats.json"
    trace.write_text(json.dumps(chats))
    level, _ = run(*CHAT, "--trace", trace, "--output-tokens", answer, *EXACT, "-c", 2)
    assert level["counts"]["ok"] == 2 * sessions
    first, second = (
        next(row["stream"] for row in level["requests"] if row["name"] == f"turn {turn}")
        for turn in (1, 2)
    )
    # The last token of an answer is sent, but not computed: it is in no cache.
    assert second["tokens_cached"] == first["tokens_in"] + sessions * (answer - 1)
    assert second["tokens_in"] > first["tokens_in"] + sessions * (answer + 60)
