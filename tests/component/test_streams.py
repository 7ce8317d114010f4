"""Streams of the chat targets, as a user fires at them: every side counts the same."""

from __future__ import annotations

import csv
import json

import pytest

from recorder import recording
from torr.targets import defects

QUICK = ("--warmup", "0s", "--drain", "5s", "-q")
OPENAI = ("--chat", "openai", "--model", "m", "--prompt", "one two three")
DIFY = ("--chat", "dify", "--prompt", "one two three")
REASONS = {
    "error": "stream.error",
    "truncate": "stream.truncated",
    "stall": "timeout.idle",
    "endless": "timeout.body",
    "reset": "read.reset_in_body",
    "malformed": "stream.malformed",
    "compress": "stream.compressed",
    "html": "stream.no_events",
}


@pytest.mark.parametrize(("kind", "chat"), [("openai", OPENAI), ("dify", DIFY)])
def test_tokens_and_answers_are_those_of_the_target(torr, target, kind, chat):
    running = target(kind, "--tokens", "5", "--ttft", "2ms", "--itl", "1ms")
    ended = torr("run", *chat, "-c", "4", "--requests", "40", *QUICK, running.url)
    level, counts = ended.level, running.stop()
    assert level["counts"]["ok"] == counts["answered"] == counts["calls"]["chat"] == 40
    stream = level["stream"]
    assert (stream["tokens_out"], stream["tokens_in"]) == (200, 120)
    assert stream["events"]["text"] == 200
    assert stream["inter_chunk_ms"]["n"] == 160
    assert stream["ttft_ms"]["n"] == stream["e2e_ms"]["n"] == 40
    assert level["requests"][0]["stream"]["tokens_out"] == 200


@pytest.mark.full
def test_every_defect_is_counted_in_its_class(torr, target):
    shares = [word for name in defects() for word in ("--fault", f"{name}:6%")]
    running = target("openai", "--tokens", "4", *shares)
    patience = ("--idle-timeout", "4s", "--timeout", "10s", *QUICK, "--drain", "15s")
    ended = torr("run", *OPENAI, *patience, "-c", "8", "--requests", "100", running.url)
    level, counts = ended.level, running.stop()
    assert level["reasons"] == {REASONS[name]: n for name, n in counts["faults"].items()}
    # A stream that fails has a status all the same; a response that breaks off has none.
    broken = sum(counts["faults"][name] for name in ("reset", "stall", "endless"))
    assert level["statuses"] == {"200": 100 - broken}
    assert len(counts["faults"]) == len(REASONS)
    ok = level["counts"]["ok"]
    assert ok == counts["answered"] == 100 - sum(counts["faults"].values())


def test_the_log_has_every_event_of_both_sides(torr, target, tmp_path):
    running = target("openai", "--tokens", "3", "--log", tmp_path / "truth.csv")
    log = ("--log", "log.csv")
    torr("run", *OPENAI, "-c", "2", "--requests", "6", *log, *QUICK, running.url)
    running.stop()
    with (tmp_path / "truth.csv").open() as file:
        sent = list(csv.DictReader(file))
    with (tmp_path / "log.csv").open() as file:
        seen = list(csv.DictReader(file))
    assert sum(row["event"] == "text" for row in sent) == 18
    assert [row["texts"] for row in seen] == ["3"] * 6
    assert [row["tokens_out"] for row in seen] == ["3"] * 6
    first_sent = min(int(row["sent_ns"]) for row in sent if row["event"] == "text")
    assert all(int(row["first_text_ns"]) >= first_sent for row in seen)


def test_turns_go_on_with_the_conversation(torr, target):
    running = target("dify", "--tokens", "2")
    ended = torr("run", *DIFY, "--turns", "3", "-c", "3", "--requests", "30", *QUICK, running.url)
    level, counts = ended.level, running.stop()
    assert [step["name"] for step in level["requests"]] == ["turn 1", "turn 2", "turn 3"]
    assert level["counts"]["ok"] == counts["answered"] == 30
    prompts = level["stream"]["prompts"]
    begun = level["requests"][0]["counts"]["attempted"]
    assert (prompts["provided"], prompts["sent"], prompts["reused"]) == (1, begun, begun - 1)


@pytest.mark.full
def test_a_ladder_goes_on_with_the_prompts_and_counts_those_said_again(torr, target, tmp_path):
    running = target("openai", "--tokens", "1", "--ttft", "5ms")
    lines = [json.dumps({"prompt": f"say {number}"}) for number in range(10)]
    (tmp_path / "prompts.jsonl").write_text("\n".join(lines))
    said = ("--chat", "openai", "--model", "m", "--prompts", "prompts.jsonl")
    one = ("--workers", "1", *QUICK)
    ended = torr("ladder", *said, "--levels", "1,2", "-z", "300ms", *one, running.url)
    prompts = [level["stream"]["prompts"] for level in ended.result["levels"]]
    sent = [each["sent"] for each in prompts]
    assert sum(sent) == running.stop()["answered"] > 10
    assert sum(each["reused"] for each in prompts) == sum(sent) - 10
    assert prompts[1]["reused"] == sent[1] - max(0, 10 - sent[0])


def test_the_summary_says_what_a_user_feels(judged_torr, target):
    running = target("openai", "--ttft", "5ms", "--itl", "1ms", "--tokens", "30")
    slos = ("--slo", "ttft p50 < 5s", "--slo", "goodput > 50%", "--slo", "tokens/s > 1")
    load = ("-c", "4", "--requests", 40, "--warmup", "0s")
    ended = judged_torr("run", *OPENAI, *load, *slos, running.url)
    assert ended.code == 0, ended.err
    assert "Holds ttft p50 under" in ended.out
    for name in ("ttft", "inter_chunk", "tpot", "tokens/s", "goodput"):
        assert f"\n{name}" in ended.out, ended.out
    folder = ended.folder / "_output/torr/latest"
    assert "ttft" in (folder / "summary.md").read_text()
    assert "stream.ttft_ms.p50" in (folder / "levels.csv").read_text().splitlines()[0]
    assert "inter_chunk" in (folder / "report.html").read_text()


@pytest.mark.parametrize("processes", [1, 2])
def test_a_tokenizer_and_other_tools_count_beside_the_server(
    torr, target, words_tokenizer, processes
):
    running = target("openai", "--tokens", "2", "--itl", "300ms")
    more = ("--tokenizer", words_tokenizer, "--alias", "vllm", "--alias", "aiperf")
    load = ("-c", "4", "--requests", "20", "--warmup", "0s", "--processes", processes)
    ended = torr("run", *OPENAI, *more, *load, running.url)
    assert ended.code == 0, ended.err
    stream = ended.level["stream"]
    # The target's first two texts are two words.
    assert (stream["tokens_out"], stream["tokenizer"]["tokens_out"]) == (40, 40)
    assert (stream["tpot_first"], stream["tpot_ms"]["n"]) == ("tokenizer", 20)
    assert ended.level["requests"][0]["stream"]["tokenizer"] == stream["tokenizer"]
    assert not list(ended.folder.rglob("texts.jsonl"))
    # Neither the role nor the reason why it ends is a chunk.
    vllm, aiperf = stream["alias"]["vllm"], stream["alias"]["aiperf"]
    assert vllm["itl_ms"]["n"] == 20
    assert vllm["ttft_ms"] == stream["ttft_ms"]
    assert aiperf["time_to_first_token_ms"] == stream["ttft_ms"]
    assert aiperf["request_latency_ms"] == stream["e2e_ms"]
    for name in ("tokenizer", "vllm ttft", "vllm itl", "aiperf inter_token_latency"):
        assert f"\n{name}" in ended.out, ended.out


def test_plain_data_is_counted_as_it_is(torr, words_tokenizer):
    events = b'data: {"say": "a \\ b"}\n\ndata: one\ndata: two\n\n'
    answer = (200, {"content-type": "text/event-stream"}, events)
    more = ("--stream", "sse", "--tokenizer", words_tokenizer)
    with recording(lambda _seen: answer) as server:
        ended = torr("run", *more, "-c", "1", "--requests", "3", *QUICK, server.url)
    assert ended.code == 0, ended.err
    # {"say": | "a | \ | b"}one | two
    assert ended.level["stream"]["tokenizer"]["tokens_out"] == 15
    assert not list(ended.folder.rglob("texts.jsonl"))


@pytest.mark.full
def test_an_automatic_ladder_finds_the_most_users_under_both_slos(torr, target):
    # Each stream takes 100 ms and four go on at once: of 4 users none waits, of 8 all do.
    times = ("--ttft", "10ms", "--itl", "10ms", "--tokens", "10", "--capacity", "4")
    running = target("openai", *times)
    slos = ("--slo", "ttft p50 < 70ms", "--slo", "tpot p50 < 5s")
    load = ("--levels", "auto:2:16", "-z", "1500ms", "--warmup", "300ms", "--no-store")
    ended = torr("ladder", *OPENAI, *load, *slos, running.url)
    assert ended.code == 0, ended.err
    found = ended.result["capacity"]["slo"]
    assert 4 <= found["concurrency"] < 8
    assert found["conditions"] == ["ttft p50 < 70ms", "tpot p50 < 5s"]
    assert found["beyond"]["condition"] == "ttft p50 < 70ms"
    assert f" at {found['concurrency']} connections with ttft p50 under 70 ms and tpot" in ended.out


def test_a_ladder_climbs_over_streams(judged_torr, target):
    running = target("openai", "--ttft", "5ms", "--itl", "1ms", "--tokens", "5", "--capacity", "4")
    load = ("--levels", "1,2,4", "-z", "300ms", *QUICK)
    ended = judged_torr(
        "ladder", *OPENAI, *load, "--allow-not-shown", "--slo", "ttft p50 < 10s", running.url
    )
    assert ended.code == 0, ended.err
    levels = ended.result["levels"]
    assert [level["concurrency"] for level in levels] == [1, 2, 4]
    for level in levels:
        assert level["stream"]["tokens_out"] == 5 * level["counts"]["ok"] > 0


def test_what_is_no_stream_is_told(torr, steady):
    ended = torr("run", "--stream", "openai", "-c", "2", "--requests", "4", *QUICK, steady.url)
    level = ended.level
    assert level["reasons"] == {"stream.no_events": 4}
    assert level["samples"][0]["body"] == "Hello world"


def test_a_dialect_that_does_not_match_is_told(torr, target):
    running = target("dify", "--tokens", "30")
    words = ("--json-body", '{"inputs": {}, "query": "q", "response_mode": "streaming"}')
    url = f"{running.url}/v1/chat-messages"
    ended = torr("run", "--stream", "openai", *words, "-c", "2", "--requests", "4", *QUICK, url)
    assert ended.level["reasons"] == {"stream.unknown": 4}


def test_a_defect_that_is_none_is_refused(torr):
    ended = torr("target", "openai", "--fault", "nonsense:1%")
    assert ended.code == 2
    assert "truncate" in ended.err
    assert "stall" in torr("target", "dify", "--list").out
