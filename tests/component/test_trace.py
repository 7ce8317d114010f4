"""`--trace` and `--cancel` against a target that counts: lengths, prefixes, sessions, ends."""

from __future__ import annotations

import json

CHAT = ("--chat", "openai", "--model", "m", "--drain", "10s", "-q")
BLOCK = 512


def mooncake(path, rows):
    """Write rows: time in ms, tokens of input and output, ids of blocks."""
    keys = ("timestamp", "input_length", "output_length", "hash_ids")
    path.write_text("".join(json.dumps(dict(zip(keys, row, strict=True))) + "\n" for row in rows))


def test_the_target_gets_the_lengths_and_shared_blocks_of_the_trace(torr, target, tmp_path):
    # Its own answers are longer than those that the trace asks for.
    running = target("openai", "--tokens", "9", "--prefix-cache", "1000000")
    # Each request after the first shares its first two blocks, and has a third of its own.
    rows = [(10 * n, 3 * BLOCK, 2 + n % 5, [1, 2, 100 + n]) for n in range(20)]
    mooncake(tmp_path / "trace.jsonl", rows)
    for pace in ((), ("-c", "2"), ("--processes", "2", "-c", "4")):
        ended = torr("run", *CHAT, "--trace", "trace.jsonl", *pace, running.url)
        level = ended.level
        assert level["counts"]["ok"] == level["counts"]["attempted"] == 20
        assert level["stream"]["tokens_in"] == 20 * 3 * BLOCK
        assert level["stream"]["tokens_out"] == sum(row[2] for row in rows)
        assert level["stream"]["tokens_cached"] >= (20 - 8) * 2 * BLOCK
    assert running.stop()["calls"]["chat"] == 60


def test_lengths_are_compared_although_the_load_ends_before_its_trace(torr, target, tmp_path):
    # Its answers are shorter than those that the trace asks for.
    running = target("openai", "--tokens", "2")
    mooncake(tmp_path / "trace.jsonl", [(n, 10 + n % 90, 3 + n % 50, [n]) for n in range(9000)])
    level = torr(
        "run", *CHAT, "--trace", "trace.jsonl", "-c", "2", "-z", "200ms", running.url
    ).level
    prompts, outputs = (level["stream"][f"{name}_lengths"] for name in ("prompt", "output"))
    sent = level["counts"]["ok"]
    assert prompts["checked"] == outputs["checked"] == sent < level["trace"]["rows"]
    assert prompts["difference_mean"] == 0
    assert (outputs["reported_mean"], outputs["planned_mean"] >= 3) == (2, True)
    assert "warning.output_length_differs" in [warning["code"] for warning in level["warnings"]]


def test_a_cache_without_an_end_hits_what_the_trace_repeats(torr, target, tmp_path):
    running = target("openai", "--prefix-cache", "1000000")
    # Prompts of three groups, which share one, two and three blocks, and end differently.
    rows = []
    for number in range(60):
        group = number % 3
        ids = [*range(10 * group, 10 * group + group + 1), 100 + number]
        rows.append((number, (group + 1) * BLOCK + 1 + number, 1, ids))
    mooncake(tmp_path / "trace.jsonl", rows)
    # One after another: of two at once, neither finds the other's beginning.
    level = torr("run", *CHAT, "--trace", "trace.jsonl", "-c", "1", running.url).level
    trace, stream = level["trace"], level["stream"]
    assert trace["rows"] == 60
    assert trace["input_tokens"]["total"] == stream["tokens_in"]
    hits = 100 * stream["tokens_cached"] / stream["tokens_in"]
    assert 50 < trace["repeated_tokens"] < 99
    assert abs(hits - trace["repeated_tokens"]) <= 2


def test_a_conversation_sends_the_live_answers_back(torr, target, tmp_path):
    running = target("openai", "--tokens", "7")
    turns = [{"from": who, "value": "hello"} for who in ("human", "gpt") * 3]
    (tmp_path / "chats.json").write_text(json.dumps([{"id": "1", "conversations": turns}] * 4))
    ended = torr("run", *CHAT, "--trace", "chats.json", "-c", "2", running.url)
    level = ended.level
    assert level["counts"]["ok"] == 12
    rows = {row["name"]: row["stream"]["tokens_in"] for row in level["requests"] if row["stream"]}
    # A question has one token; each turn has all questions and answers before it.
    answers = level["stream"]["tokens_out"] // 12
    turns_in = [4 * (turn + (turn - 1) * answers) for turn in (1, 2, 3)]
    assert [rows[f"turn {turn}"] for turn in (1, 2, 3)] == turns_in


def weka(path, sessions):
    """Write sessions of three requests of their own length, two of which run beside each other."""

    def request(tokens):
        return {"t": 0, "type": "s", "in": tokens, "out": 2, "hash_ids": [], "think_time": 0.001}

    for number in range(sessions):
        branches = [
            {"t": 0, "type": "subagent", "requests": [request(100 + number)]} for _ in range(2)
        ]
        requests = [request(200), *branches, request(300)]
        path.mkdir(exist_ok=True)
        (path / f"{number:02}.json").write_text(
            json.dumps({"block_size": 64, "requests": requests})
        )


def test_users_play_the_sessions_of_agents_one_after_another(torr, target, tmp_path):
    running = target("openai", "--ttft", "5ms", "--itl", "1ms")
    weka(tmp_path / "agents", 12)
    log = tmp_path / "log.csv"
    load = ("--trace", "agents", "-c", "2", "--workers", "1", "--log", str(log))
    level = torr("run", *CHAT, *load, running.url).level
    assert level["counts"]["ok"] == 48
    rows = {row["name"]: row["counts"]["ok"] for row in level["requests"]}
    assert {name: ok for name, ok in rows.items() if ok} == {
        "turn 1": 12,
        "turn 2": 12,
        "sub-agents": 24,
    }
    # Of sessions that all began first, twelve would be open.
    names = [line.split(",")[0] for line in log.read_text().splitlines()[1:]]
    begun = [names[:n].count("turn 1") - names[:n].count("turn 2") for n in range(48)]
    assert max(begun) == 2
    assert level["postponed"] > 0


def test_users_who_give_up_are_counted_as_the_target_counts_them(torr, target):
    # A user who gives up has time to say so before the end of the stream.
    running = target("openai", "--tokens", "400", "--itl", "5ms")
    load = ("--prompt", "p", "-c", "24", "--requests", "24", "--warmup", "0s")
    ended = torr("run", *CHAT, *load, "--cancel", "50% after 3 tokens", running.url)
    counts = ended.level["counts"]
    ends = running.stop()["ends"]
    assert counts["attempted"] == 24
    assert counts["ok"] + counts["cancelled"] == 24
    assert not counts["errors"]
    assert 0 < counts["cancelled"] < 24
    assert ends["cancelled"] == counts["cancelled"]
