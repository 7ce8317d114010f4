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
}


def asked(api, *more):
    model = ("--model", "m") if "model" in APIS[api].takes else ()
    return "run", "--chat", api, *model, "--prompt", "p", *more, URL


def test_every_option_of_some_apis_is_tried_below():
    assert set(GIVEN) == set(OF_SOME_APIS)


@pytest.mark.parametrize("option", OF_SOME_APIS)
@pytest.mark.parametrize("api", APIS)
def test_an_option_is_taken_or_refused_and_never_ignored(torr, fake, api, option):
    plain = torr(*asked(api))
    assert plain.code == 0, plain.err
    without = group_of(fake)
    fake.loads.clear()
    ended = torr(*asked(api, *(() if option == "model" else GIVEN[option])))
    if option in APIS[api].takes:
        assert ended.code == 0, ended.err
        is_default = option in ("model", "inputs")
        assert is_default or group_of(fake) != without
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
