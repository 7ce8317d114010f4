"""Each API of the table is asked in its own words, and refuses what it has no place for."""

from __future__ import annotations

import json

import pytest

from planned import URL, body_of, filled, group_of, requests_of
from torr.planning.apis.table import APIS
from torr.planning.chat import OF_SOME_APIS

GIVEN = {
    "model": ("--model", "m"),
    "max_tokens": ("--max-tokens", "7"),
    "output_tokens": ("--output-tokens", "9"),
    "server": ("--output-tokens", "9", "--server", "vllm"),
    "user": ("--user", "u"),
    "inputs": ("--inputs", "{}"),
    "unique_prefix": ("--unique-prefix",),
    "turns": ("--turns", "2"),
    "batch": ("--batch", "2"),
    "tools": ("--tools", "tools.json"),
    "images": ("--image", "4x2"),
    "prompt_tokens": ("--prompt-tokens", "9"),
    "prefix_tokens": ("--prompt-tokens", "9", "--prefix-tokens", "7"),
    "prefix_groups": ("--prompt-tokens", "9", "--prefix-tokens", "7", "--prefix-groups", "2"),
    "token_ids": ("--prompt-tokens", "9", "--token-ids", "--tokenizer", "ids.json"),
}
MADE_UP = ("prompt_tokens", "prefix_tokens", "prefix_groups", "token_ids")


TOOLS = [{"type": "function", "function": {"name": "f", "description": "a {{b}}"}}]


def asked(api, *more):
    model = ("--model", "m") if "model" in APIS[api].takes else ()
    return "run", "--chat", api, *model, "--prompt", "p", *more, URL


def test_every_option_of_some_apis_is_tried_below():
    assert set(GIVEN) == set(OF_SOME_APIS)


@pytest.fixture
def files(tmp_path, ids_tokenizer):
    """Write the files that options name."""
    (tmp_path / "ids.json").write_bytes(ids_tokenizer.read_bytes())
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))


@pytest.fixture(scope="module")
def groups_without():
    """Collect what each API plans without an option."""
    return {}


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("option", OF_SOME_APIS)
@pytest.mark.parametrize("api", APIS)
def test_an_option_is_taken_or_refused_and_never_ignored(torr, fake, groups_without, api, option):
    if api not in groups_without:
        plain = torr(*asked(api))
        assert plain.code == 0, plain.err
        groups_without[api] = group_of(fake)
        fake.loads.clear()
    words = asked(api, *(() if option == "model" else GIVEN[option]))
    if option in MADE_UP and option in APIS[api].takes:
        query = ("--prompt", "p") if APIS[api].has_query else ()
        words = (*(word for word in words if word not in ("--prompt", "p")), *query)
    ended = torr(*words)
    if option in APIS[api].takes:
        assert ended.code == 0, ended.err
        is_default = option in ("model", "inputs")
        assert is_default or group_of(fake) != groups_without[api]
    elif option != "model":
        assert ended.code == 2
        assert f"does not fit --chat {api}" in ended.err
        assert not fake.loads


def test_a_body_is_json_whose_texts_are_templates(torr, fake):
    for api in APIS.values():
        fake.loads.clear()
        ended = torr(*asked(api.name))
        assert ended.code == 0, ended.err
        (request,) = requests_of(fake)
        assert request["url"] == f"{URL}{api.path}"
        assert request.get("stream", {}).get("dialect") == api.dialect
        assert "{{" not in json.dumps(filled(request))


def test_completions_continue_a_text(torr, fake):
    torr(*asked("completions", "--max-tokens", "7", "--turns", "2"))
    first, second = requests_of(fake)
    assert filled(first) == {
        "model": "m",
        "prompt": "row.prompt_1",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 7,
    }
    assert filled(second)["prompt"] == "row.prompt_1\nanswer_1\nrow.prompt_2"


def test_responses_get_earlier_messages_as_items(torr, fake):
    torr(*asked("responses", "--max-tokens", "7", "--turns", "2", "--user", "u"))
    first, second = requests_of(fake)
    assert filled(first) == {
        "model": "m",
        "input": [{"role": "user", "content": "row.prompt_1"}],
        "stream": True,
        "store": False,
        "max_output_tokens": 7,
        "user": "u",
    }
    assert filled(second)["input"] == [
        {"role": "user", "content": "row.prompt_1"},
        {"role": "assistant", "content": "answer_1"},
        {"role": "user", "content": "row.prompt_2"},
    ]
    assert first["captures"] == [{"name": "answer_1", "from": "text", "what": ""}]
    assert "previous_response_id" not in body_of(second)


@pytest.mark.parametrize(("api", "query"), [("embeddings", []), ("rerank", ["p"])])
def test_texts_of_a_batch_are_made_up(torr, fake, api, query):
    prompt = ("--prompt", "p") if query else ()
    words = ("--model", "m", "--prompt-tokens", "12", "--batch", "3", *prompt)
    ended = torr("run", "--chat", api, *words, URL)
    assert ended.code == 0, ended.err
    data = group_of(fake)["data"]
    assert data["columns"] == [*(["query"] if query else []), "prompt_1", "prompt_2", "prompt_3"]
    for row in data["rows"]:
        assert row[: len(query)] == query
        assert [len(text.split()) for text in row[len(query) :]] == [12, 12, 12]


def test_made_up_documents_need_a_query(torr):
    ended = torr("run", "--chat", "rerank", "--model", "m", "--prompt-tokens", "12", URL)
    assert ended.code == 2
    assert "--chat rerank needs --prompt, which is the query" in ended.err


def test_embeddings_have_batches_of_the_texts_in_order(torr, fake, tmp_path):
    lines = ['"a"', '{"turns": ["b", "c"]}', '"d"', '"e"']
    (tmp_path / "p.jsonl").write_text("\n".join(lines))
    ended = torr(*embedding("--prompts", "p.jsonl", "--batch", "2", "--user", "u"))
    assert ended.code == 0, ended.err
    (request,) = requests_of(fake)
    texts = ["row.prompt_1", "row.prompt_2"]
    assert filled(request) == {"model": "m", "input": texts, "user": "u"}
    # The last batch is filled from the first texts.
    assert group_of(fake)["data"]["rows"] == [["a", "b"], ["c", "d"], ["e", "a"]]
    assert request["accept_statuses"] == [[200, 299]]


def test_every_text_of_a_batch_has_a_prefix_of_its_own(torr, fake):
    torr(*embedding("--prompt", "p", "--batch", "3", "--unique-prefix"))
    assert body_of(requests_of(fake)[0]).count("{{uuid}}") == 3


def embedding(*more):
    return "run", "--chat", "embeddings", "--model", "m", *more, URL


def test_documents_are_ranked_for_the_prompt(torr, fake, tmp_path):
    (tmp_path / "p.jsonl").write_text('"a"\n"b"\n')
    words = ("--model", "m", "--prompt", "q", "--prompts", "p.jsonl", "--batch", "2")
    ended = torr("run", "--chat", "rerank", *words, URL)
    assert ended.code == 0, ended.err
    (request,) = requests_of(fake)
    documents = ["row.prompt_1", "row.prompt_2"]
    assert filled(request) == {"model": "m", "query": "row.query", "documents": documents}
    assert group_of(fake)["data"]["rows"] == [["q", "a", "b"]]


def test_a_rerank_needs_its_query(torr, fake, tmp_path):
    (tmp_path / "p.jsonl").write_text('"a"\n')
    ended = torr("run", "--chat", "rerank", "--model", "m", "--prompts", "p.jsonl", URL)
    assert (ended.code, fake.loads) == (2, [])
    assert "--chat rerank needs --prompt, which is the query" in ended.err


def test_options_of_streams_do_not_fit_what_does_not_stream(torr, fake):
    ended = torr(*embedding("--prompt", "p", "--idle-timeout", "5s"))
    assert (ended.code, fake.loads) == (2, [])
    assert "--idle-timeout needs --stream" in ended.err


@pytest.mark.parametrize("api", [name for name, api in APIS.items() if "tools" in api.takes])
def test_tools_are_sent_as_the_file_has_them(torr, fake, tmp_path, api):
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    ended = torr(*asked(api, "--tools", "tools.json"))
    assert ended.code == 0, ended.err
    (request,) = requests_of(fake)
    # Two braces of a text are an expression for themselves.
    sent = body_of(request).replace('{{"{{"}}', "{{")
    assert f'"tools": {json.dumps(TOOLS)}' in sent.replace('"tools":', '"tools": ')


@pytest.mark.parametrize("text", ["{}", "[]", "[1]", "{"])
def test_what_is_no_list_of_tools_is_refused(torr, fake, tmp_path, text):
    (tmp_path / "tools.json").write_text(text)
    ended = torr(*asked("openai", "--tools", "tools.json"))
    assert (ended.code, fake.loads) == (2, [])
    assert "tools.json" in ended.err
