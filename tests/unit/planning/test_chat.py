"""`--chat` and `--stream` become requests in the words of an API, and limits of good responses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planned import URL, body_of, group_of, header_of, requests_of
from written import files_with

OPENAI = ("--chat", "openai", "--model", "m", "--prompt", 'say "hi"')


def test_openai_is_asked_in_its_own_words(torr, fake):
    assert torr("run", *OPENAI, "--max-tokens", "7", "--user", "u", URL).code == 0
    (request,) = requests_of(fake)
    assert (request["method"], request["url"]) == ("POST", f"{URL}/v1/chat/completions")
    assert request["stream"] == {"dialect": "openai"}
    filled = body_of(request).replace("{{row.prompt_1 | json}}", "p")
    assert json.loads(filled) == {
        "model": "m",
        "messages": [{"role": "user", "content": "p"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_completion_tokens": 7,
        "user": "u",
    }
    assert group_of(fake)["data"] == {"columns": ["prompt_1"], "rows": [['say "hi"']]}


def test_dify_and_anthropic_too(torr, fake):
    inputs = ("--inputs", '{"dept": "IT"}')
    torr("run", "--chat", "dify", "--prompt", "p", *inputs, URL)
    (request,) = requests_of(fake)
    assert request["url"] == f"{URL}/v1/chat-messages"
    assert json.loads(body_of(request)) == {
        "inputs": {"dept": "IT"},
        "query": "{{row.prompt_1 | json}}",
        "response_mode": "streaming",
        "user": "torr",
    }
    fake.loads.clear()
    torr("run", "--chat", "anthropic", "--model", "m", "--prompt", "p", f"{URL}/own/path")
    (request,) = requests_of(fake)
    assert request["url"] == f"{URL}/own/path"
    assert header_of(request, "anthropic-version") == "2023-06-01"
    assert json.loads(body_of(request))["max_tokens"] == 1024


def test_a_conversation_holds_what_was_said_before(torr, fake, tmp_path):
    (tmp_path / "p.jsonl").write_text('{"turns": ["a", "b", "c"]}\n')
    torr("run", "--chat", "openai", "--model", "m", "--prompts", "p.jsonl", "--turns", "3", URL)
    requests = requests_of(fake)
    assert group_of(fake)["source"]["kind"] == "steps"
    assert [request["name"] for request in requests] == ["turn 1", "turn 2", "turn 3"]
    roles = [
        [message["role"] for message in json.loads(body_of(request))["messages"]]
        for request in requests
    ]
    assert roles[2] == ["user", "assistant", "user", "assistant", "user"]
    assert [request.get("captures") for request in requests] == [
        [{"name": "answer_1", "from": "text", "what": ""}],
        [{"name": "answer_2", "from": "text", "what": ""}],
        None,
    ]
    assert "{{answer_2 | json}}" in body_of(requests[2])
    assert group_of(fake)["data"]["rows"] == [["a", "b", "c"]]


def test_dify_remembers_by_itself(torr, fake):
    torr("run", "--chat", "dify", "--prompt", "p", "--turns", "2", URL)
    first, second = requests_of(fake)
    assert first["captures"] == [{"name": "conversation", "from": "conversation", "what": ""}]
    assert json.loads(body_of(second))["conversation_id"] == "{{conversation | json}}"
    assert "conversation_id" not in body_of(first)


ANTHROPIC = ("--chat", "anthropic", "--model", "m", "--prompt", "p")


@pytest.mark.parametrize(
    ("chat", "header"),
    [(OPENAI, ("authorization", "Bearer hush-hush")), (ANTHROPIC, ("x-api-key", "hush-hush"))],
)
def test_a_key_comes_from_the_environment_and_stays_out_of_files(
    torr, fake, monkeypatch, chat, header
):
    monkeypatch.setenv("API_KEY", "hush-hush")
    ended = torr("run", *chat, "--token-env", "API_KEY", "-d", "out", "-o", "json", URL)
    name, value = header
    assert header_of(requests_of(fake)[0], name) == value
    assert "hush-hush" not in ended.out + ended.err
    assert files_with(Path("out"), "hush-hush") == []


def test_prompts_of_a_file_are_not_in_the_results(torr, fake, tmp_path):
    (tmp_path / "p.jsonl").write_text(json.dumps({"prompt": "between us"}))
    flags = ("--chat", "dify", "--prompts", "p.jsonl", "-d", "out", "-o", "json")
    ended = torr("run", *flags, URL)
    plan = json.loads(ended.out)["plan"]
    assert group_of(fake)["data"]["rows"] == [["between us"]]
    assert plan["groups"][0]["data"] == {"columns": ["prompt_1"], "rows": []}
    assert "between us" not in ended.out + ended.err
    assert files_with(tmp_path / "out", "between us") == []


def test_unique_prompts_begin_with_a_number_of_their_own(torr, fake):
    torr("run", *OPENAI, "--unique-prefix", URL)
    (request,) = requests_of(fake)
    assert "{{uuid}} {{row.prompt_1 | json}}" in body_of(request)


def test_any_request_can_be_watched(torr, fake):
    torr("run", "--stream", "sse", "--idle-timeout", "5s", "--from", "intended", f"{URL}/events")
    (request,) = requests_of(fake)
    assert request["stream"] == {
        "dialect": "sse",
        "idle_timeout_ns": 5_000_000_000,
        "from_intended": True,
    }


def test_flags_of_streams_are_those_of_a_files_streams(torr, fake, tmp_path):
    members = ({"stream": "dify"}, {"stream": "sse", "idle_timeout": "5s"}, {})
    lines = [json.dumps({"url": f"/{n}", **more}) for n, more in enumerate(members)]
    (tmp_path / "r.jsonl").write_text("\n".join(lines))
    flags = ("--from", "intended", "--idle-timeout", "2s")
    ended = torr("run", "--requests-file", "r.jsonl", *flags, URL)
    assert ended.code == 0, ended.err
    found = [request.get("stream") for request in requests_of(fake)]
    assert found == [
        {"dialect": "dify", "idle_timeout_ns": 2_000_000_000, "from_intended": True},
        {"dialect": "sse", "idle_timeout_ns": 5_000_000_000, "from_intended": True},
        None,
    ]


def test_slos_of_latency_are_limits_of_good_answers(torr, fake):
    slos = ("ttft p95 < 800ms", "tpot p99 <= 50ms", "ok/s > 1", "other: p95 < 1s", "p50 > 1ms")
    given = [word for slo in slos for word in ("--slo", slo)]
    ended = torr("run", *OPENAI, *given[:6], *given[8:], URL)
    assert ended.code in (0, 1)
    (request,) = requests_of(fake)
    assert request["limits"] == [
        {"metric": "ttft", "limit_ns": 800_000_000, "inclusive": False},
        {"metric": "tpot", "limit_ns": 50_000_000, "inclusive": True},
    ]


@pytest.mark.parametrize("verb", ["run", "ladder"])
def test_a_preset_is_its_slos(torr, fake, tmp_path, verb):
    slos = ("mlperf:llama2-70b:interactive", "ttft p99 <= 0.45s", "success > 1%")
    ended = torr(verb, *OPENAI, *(word for slo in slos for word in ("--slo", slo)), URL)
    assert ended.code in (0, 1), ended.err
    assert requests_of(fake)[0]["limits"] == [
        {"metric": "ttft", "limit_ns": 450_000_000, "inclusive": True},
        {"metric": "tpot", "limit_ns": 40_000_000, "inclusive": True},
    ]
    result = json.loads((tmp_path / "_output/torr/latest/result.json").read_text())
    judged = ["ttft p99 <= 450ms", "tpot p99 <= 40ms", "success > 1%"]
    assert result["experiment"]["slos"] == judged
    assert result["experiment"]["slo_presets"] == ["mlperf:llama2-70b:interactive"]
    assert list(dict.fromkeys(v["condition"] for v in result["verdicts"])) == judged


@pytest.mark.parametrize(
    ("words", "says", "hint"),
    [
        (("--chat", "openai", "--prompt", "p", URL), "--chat openai needs --model", "--model"),
        (("--chat", "openai", "--model", "m", URL), "--chat needs --prompt", "--prompt"),
        ((*OPENAI, "--prompts", "/dev/null", URL), "--prompt and --prompts", "give one of them"),
        ((*OPENAI, "-b", "x", URL), "-b/--body and --chat", "writes the request"),
        ((*OPENAI, "--stream", "sse", URL), "--stream and --chat", "writes the request"),
        ((*OPENAI, URL, f"{URL}/2"), "several URLs", "give one of them"),
        ((*OPENAI, "--basic-auth", "u:p", URL), "--basic-auth and --chat", "writes the request"),
        ((*OPENAI, "--capture", "a=json:$.b", URL), "--capture and --chat", "writes the request"),
        ((*OPENAI, "--token-env", "NO_SUCH", URL), "NO_SUCH: there is no such", "export NO_SUCH"),
        (("--chat", "dify", "--prompt", "p", "--inputs", "[]", URL), "not a JSON object", "dept"),
        (("--chat", "dify", "--prompt", "p", "--inputs", "{", URL), "--inputs: not JSON", ""),
        (("--prompt", "p", URL), "--prompt needs --chat", "add --chat"),
        (("--turns", "2", URL), "--turns needs --chat", "add --chat"),
        (("--idle-timeout", "1s", URL), "--idle-timeout needs --stream", "add --stream"),
        (("--from", "intended", URL), "--from needs --stream", "add --stream"),
        (("--stream", "sse", "--compressed", URL), "--compressed and --stream", "leave"),
        (OPENAI, "URL is missing", "torr run --chat"),
    ],
)
def test_what_does_not_go_together_is_said(torr, fake, words, says, hint):
    ended = torr("run", *words)
    assert ended.code == 2
    assert says in ended.err
    assert hint in ended.err
    assert not fake.loads


def test_what_is_given_of_a_header_is_not_given_again(torr, fake):
    torr("run", *OPENAI, "-H", "Content-Type: application/json; charset=utf-8", URL)
    names = [name.lower() for name, _ in requests_of(fake)[0]["headers"]]
    assert names.count("content-type") == 1


def test_a_stream_is_accepted_with_a_status_that_has_a_body(torr, fake):
    torr("run", "--stream", "sse", URL)
    assert requests_of(fake)[0]["accept_statuses"] == [[200, 299]]
    fake.loads.clear()
    torr("run", "--stream", "sse", "--expect-status", "200-399", URL)
    assert requests_of(fake)[0]["accept_statuses"] == [[200, 399]]


def test_limits_are_of_the_name_that_a_request_has_at_last(torr, fake):
    slos = ("--slo", "GET / #2: ttft p50 < 5s")
    torr("run", "--stream", "sse", *slos, URL, URL)
    assert [request.get("limits", []) for request in requests_of(fake)] == [
        [],
        [{"metric": "ttft", "limit_ns": 5_000_000_000, "inclusive": False}],
    ]


IDS = ("--model", "m", "--prompt-tokens", "40", "--token-ids")


def test_token_ids_are_a_list_of_numbers_that_are_not_special(torr, fake, ids_tokenizer):
    tokenizer = ("--tokenizer", str(ids_tokenizer))
    assert torr("run", "--chat", "completions", *IDS, *tokenizer, URL).code == 0
    (request,) = requests_of(fake)
    rows = group_of(fake)["data"]["rows"]
    bodies = [body_of(request).replace("{{row.prompt_1}}", row) for (row,) in rows[:20]]
    prompts = [json.loads(body)["prompt"] for body in bodies]
    assert {len(prompt) for prompt in prompts} == {40}
    assert all(10 < number < 999 for prompt in prompts for number in prompt)
    assert len({tuple(prompt) for prompt in prompts}) == 20


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--chat", "openai", *IDS), "--token-ids does not fit --chat openai"),
        (("--chat", "completions", *IDS), "--token-ids needs --tokenizer"),
        (
            ("--chat", "completions", "--model", "m", "--prompt", "p", "--token-ids"),
            "--token-ids needs --prompt-tokens",
        ),
        (
            ("--chat", "completions", *IDS, "--tokenizer", __file__, "--turns", "2"),
            "--turns and --token-ids are both given",
        ),
    ],
)
def test_token_ids_without_what_they_need_are_refused(torr, words, problem):
    ended = torr("run", *words, URL)
    assert ended.code == 2
    assert problem in ended.err
