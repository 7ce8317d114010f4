"""Recorded messages are written as each API takes them, with calls of tools and their answers."""

from __future__ import annotations

import json

import pytest

from torr.planning.apis.table import APIS
from torr.sources.traces.row import ToolCall
from torr.sources.traces.row import TraceMessage as Said

LOOK, COUNT = ToolCall("c1", "look", '{"at": "é"}'), ToolCall("c2", "count", "[1")
TALK = (
    Said("system", "Be brief"),
    Said("user", 'a "star"?'),
    Said("assistant", "Wait", (LOOK, COUNT)),
    Said("tool", "red", (), "c1"),
    Said("tool", "3", (), "c2"),
    Said("assistant", "", (LOOK,)),
    Said("tool", "blue", (), "c1"),
)


def body(api, messages):
    """Return the JSON object in which the cells of a row stand."""
    parts = APIS[api].trace
    text = parts.row.replace("{{history}}", "")
    for column, cell in zip(parts.columns, parts.write(messages), strict=True):
        text = text.replace(f"{{{{row.{column}}}}}", cell)
    return json.loads(f'{{"messages":{text}}}')


def test_chats_of_openai_have_calls_and_their_ids():
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for call in (LOOK, COUNT)
    ]
    assert body("openai", TALK) == {
        "messages": [
            {"role": "system", "content": "Be brief"},
            {"role": "user", "content": 'a "star"?'},
            {"role": "assistant", "content": "Wait", "tool_calls": calls},
            {"role": "tool", "tool_call_id": "c1", "content": "red"},
            {"role": "tool", "tool_call_id": "c2", "content": "3"},
            {"role": "assistant", "content": None, "tool_calls": calls[:1]},
            {"role": "tool", "tool_call_id": "c1", "content": "blue"},
        ]
    }


def test_messages_of_anthropic_have_only_users_and_assistants():
    look = {"type": "tool_use", "id": "c1", "name": "look", "input": {"at": "é"}}
    # Its API wants an object.
    count = {"type": "tool_use", "id": "c2", "name": "count", "input": {"arguments": "[1"}}
    assert body("anthropic", (*TALK, Said("assistant", ""))) == {
        "system": [{"type": "text", "text": "Be brief"}],
        "messages": [
            {"role": "user", "content": 'a "star"?'},
            {"role": "assistant", "content": [{"type": "text", "text": "Wait"}, look, count]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "red"},
                    {"type": "tool_result", "tool_use_id": "c2", "content": "3"},
                ],
            },
            {"role": "assistant", "content": [look]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "blue"}],
            },
        ],
    }


def test_responses_have_calls_as_items():
    call = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": LOOK.arguments}
    other = {"type": "function_call", "call_id": "c2", "name": "count", "arguments": "[1"}
    assert body("responses", TALK) == {
        "messages": [
            {"role": "system", "content": "Be brief"},
            {"role": "user", "content": 'a "star"?'},
            {"role": "assistant", "content": "Wait"},
            call,
            other,
            {"type": "function_call_output", "call_id": "c1", "output": "red"},
            {"type": "function_call_output", "call_id": "c2", "output": "3"},
            call,
            {"type": "function_call_output", "call_id": "c1", "output": "blue"},
        ]
    }


def test_completions_have_calls_as_texts():
    look = 'look({"at": "é"})'
    lines = ("Be brief", 'a "star"?', "Wait", look, "count([1", "red", "3", look, "blue")
    lines = tuple(f"{line})" if line.startswith("count") else line for line in lines)
    assert body("completions", TALK)["messages"] == "\n".join(lines)


@pytest.mark.parametrize("api", [name for name, api in APIS.items() if api.trace])
def test_a_prompt_alone_is_what_the_api_takes_for_one(api):
    made = body(api, (Said("user", "Hi"),))
    expected = "Hi" if api == "completions" else [{"role": "user", "content": "Hi"}]
    assert made == {"messages": expected}
