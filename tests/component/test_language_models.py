"""Requests to APIs of language models, and what their streams say, against small servers."""

from __future__ import annotations

import json

import pytest

from recorder import of_json, recording

LOAD = ("-c", "2", "--requests", "6", "--warmup", "0s", "--drain", "10s")


def events(*values, named=True):
    """Return server-sent events, each with the name that its JSON has as `type`."""
    lines = []
    for value in values:
        name = f"event: {value['type']}\n" if named else ""
        lines.append(f"{name}data: {json.dumps(value)}\n\n")
    return "".join(lines).encode()


def delta(kind, text):
    return {"type": f"response.{kind}.delta", "delta": text}


def responses(output_tokens=5):
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 6},
        "output_tokens": output_tokens,
        "output_tokens_details": {"reasoning_tokens": 2},
    }
    return events(
        {"type": "response.created", "response": {}},
        delta("reasoning_text", "so"),
        delta("output_text", "Hello"),
        delta("function_call_arguments", "{}"),
        {"type": "response.completed", "response": {"usage": usage}},
    )


def completions():
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    texts = [{"choices": [{"index": 0, "text": word}]} for word in ("a ", "b ", "c")]
    return events(*texts, {"choices": [], "usage": usage}, named=False) + b"data: [DONE]\n\n"


def anthropic():
    usage = {"input_tokens": 4, "cache_read_input_tokens": 6, "output_tokens": 1}
    pieces = [{"thinking": "so"}, {"text": "Hello"}, {"partial_json": "{}"}]
    return events(
        {"type": "message_start", "message": {"usage": usage}},
        {"type": "ping"},
        *({"type": "content_block_delta", "delta": piece} for piece in pieces),
        {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    )


STREAMS = {
    "/v1/responses": responses(),
    "/v1/completions": completions(),
    "/v1/messages": anthropic(),
}


def streamed(seen):
    return 200, {"content-type": "text/event-stream"}, STREAMS[seen.path]


@pytest.fixture
def server():
    with recording(streamed) as running:
        yield running


def chat(torr, server, api, *more):
    ended = torr(
        "run", "--chat", api, "--model", "m", "--prompt", "one two", *LOAD, *more, server.url
    )
    assert ended.code == 0, ended.err
    return ended


@pytest.mark.parametrize(
    ("api", "texts", "cached"),
    [("responses", 3, 36), ("completions", 3, None), ("anthropic", 3, 36)],
)
def test_texts_tokens_and_cached_tokens_are_those_that_the_server_sent(
    torr, server, api, texts, cached
):
    ended = chat(torr, server, api)
    level = ended.level
    stream = level["stream"]
    assert level["counts"]["ok"] == len(server.seen) == 6
    assert (stream["tokens_in"], stream["tokens_out"]) == (60, 30)
    assert stream.get("tokens_cached") == cached
    assert stream["inter_chunk_ms"]["n"] == 6 * (texts - 1)
    assert stream["ttft_ms"]["n"] == stream["ttfo_ms"]["n"] == 6
    called = api != "completions"
    assert stream["with_tool_calls"] == (6 if called else 0)
    assert stream["events"].get("reasoning") == (6 if called else None)
    assert ("60 % of prompt tokens" in ended.out) == (cached is not None), ended.out


def test_responses_hold_a_conversation_by_earlier_messages(torr, server):
    chat(torr, server, "responses", "--turns", "2")
    bodies = [json.loads(seen.body) for seen in server.of("/v1/responses")]
    longest = max((body["input"] for body in bodies), key=len)
    assert [item["content"] for item in longest] == ["one two", "Hello", "one two"]


def test_a_stream_is_read_in_the_dialect_of_its_own(torr, server):
    body = ("--json-body", '{"model": "m"}')
    words = ("run", "--stream", "responses", *body, *LOAD, f"{server.url}/v1/responses")
    assert torr(*words).level["stream"]["tokens_reasoning"] == 12
    wrong = ("run", "--stream", "responses", *body, *LOAD, f"{server.url}/v1/messages")
    assert torr(*wrong).level["reasons"] == {"stream.unknown": 6}


def test_responses_of_another_length_than_asked_for_are_said(torr):
    sent = iter([responses(9)] * 4 + [responses(7)] * 100)
    answer = lambda _seen: (200, {"content-type": "text/event-stream"}, next(sent))  # noqa: E731
    with recording(answer) as server:
        ended = chat(torr, server, "responses", "--output-tokens", "9", "--server", "vllm")
    check = ended.level["stream"]["length_check"]
    assert check == {"requested": 9, "checked": 6, "different": 2}
    assert "2 of 6 responses (33.3 %) do not have the 9 output tokens" in ended.out
    body = json.loads(server.seen[0].body)
    assert (body["max_output_tokens"], body["ignore_eos"]) == (9, True)


def test_a_server_that_refuses_a_member_is_seen_in_the_sample(torr):
    refusal = {"error": {"message": "Extra inputs are not permitted: ignore_eos"}}
    with recording(lambda _seen: (400, *of_json(refusal)[1:])) as server:
        more = ("--output-tokens", "9", "--server", "vllm")
        words = ("--chat", "openai", "--model", "m", "--prompt", "p", *more, *LOAD)
        ended = torr("run", *words, server.url)
    level = ended.level
    assert level["statuses"] == {"400": 6}
    assert "ignore_eos" in level["samples"][0]["body"]


def test_batches_are_counted_as_inputs_a_second(torr, tmp_path):
    (tmp_path / "p.jsonl").write_text('"one"\n"two"\n"three"\n')
    words = ("--chat", "embeddings", "--model", "m", "--prompts", "p.jsonl", "--batch", "2")
    with recording(lambda _seen: of_json({"data": []})) as server:
        ended = torr("run", *words, "-c", "1", "--workers", "1", *LOAD[2:], server.url)
    assert ended.code == 0, ended.err
    inputs = [json.loads(seen.body)["input"] for seen in server.of("/v1/embeddings")]
    assert inputs[:3] == [["one", "two"], ["three", "one"], ["one", "two"]]
    level = ended.level
    assert level["stream"] is None
    assert level["inputs_per_s"] == 2 * level["ok_per_s"] > 0
    assert " inputs/s" in ended.out, ended.out
