"""Traces with texts: conversations of ShareGPT, and logs of LiteLLM."""

from __future__ import annotations

import json
from io import StringIO

import pytest

from torr.errors import FileError
from torr.sources.traces import json_values
from torr.sources.traces.reader import read_trace
from torr.sources.traces.row import NOT_KNOWN, ToolCall, TraceMessage
from torr.sources.traces.sessions import RecentlyUsed

S = 1_000_000_000


def human(text):
    return {"from": "human", "value": text}


def gpt(text):
    return {"from": "gpt", "value": text}


CONVERSATIONS = [
    {"id": "a", "conversations": [human("Hi you"), gpt("Hello! How"), human("Bye"), gpt("Bye")]},
    {"id": "b", "conversations": [gpt("nobody asked")]},
    {
        "id": "c",
        "conversations": [{"from": "system", "value": "Be"}, {"from": "user", "value": "Ü"}],
    },
    {"id": "d"},
]


@pytest.mark.parametrize("form", ["array", "indented", "lines"])
def test_of_sharegpt_each_text_of_a_user_is_a_row(write, form):
    text = {
        "array": json.dumps(CONVERSATIONS),
        "indented": json.dumps(CONVERSATIONS, indent=2),
        "lines": "".join(f"{json.dumps(each)}\n" for each in CONVERSATIONS),
    }[form]
    trace = read_trace(write("a.json", text))
    rows = list(trace)
    assert [
        (row.number, row.session, row.turn, row.after, row.followers, row.messages) for row in rows
    ] == [
        (0, 0, 1, (), 1, (TraceMessage("user", "Hi you"),)),
        (1, 0, 2, (0,), 0, (TraceMessage("user", "Bye"),)),
        (2, 1, 1, (), 0, (TraceMessage("user", "Ü"),)),
    ]
    assert {(row.at_ns, row.input_tokens, row.output_tokens) for row in rows} == {
        (None, None, None)
    }
    assert trace.counts.left_out == {"no_prompt": 2}


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ('[\n{"conversations": []},\n{"conversations": [}]', 3, "not JSON"),
        ('[\n{"conversations": []}', 2, "there is no ']' here"),
        ('[\n{"conversations": []},\n', 3, "the array does not end"),
        ('[\n{"conversations": []},\n7]', 3, "not a JSON object"),
        ('{"conversations": []}\n{"conversations": [1e999]}', 2, "too large"),
        ('{"conversations": []}\n{"conversations": ' + "[" * 200 + "]" * 200 + "}", 2, "nested"),
        ('{"conversations": []}\n{"conversations": ' + "[" * 99_999, 2, "nested|not JSON"),
    ],
)
def test_a_text_that_is_no_trace_is_an_error_at_its_line(write, text, line, why):
    with pytest.raises(FileError, match=rf"a\.json:{line}: .*({why})"):
        list(read_trace(write("a.json", text)))


@pytest.mark.parametrize("piece", [1, 2, 7, 64])
def test_objects_are_read_however_the_text_is_cut(write, monkeypatch, piece):
    monkeypatch.setattr(json_values, "_PIECE", piece)
    text = json.dumps(CONVERSATIONS, indent=1, ensure_ascii=False)
    path = write("a.json", text)
    found = list(json_values.read_objects(path, StringIO(text)))
    assert [entry for _, entry in found] == CONVERSATIONS
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines, start=1) if line == " {"]
    assert [line for line, _ in found] == starts


def test_an_object_that_does_not_end_is_read_to_a_limit(write, monkeypatch):
    monkeypatch.setattr(json_values, "_PIECE", 10)
    monkeypatch.setattr(json_values, "LARGEST_OBJECT", 1000)
    path = write("a.json", '{"a": "' + "x" * 100_000)
    with path.open() as text, pytest.raises(FileError, match="not JSON"):
        list(json_values.read_objects(path, text))
    with path.open() as text:
        with pytest.raises(FileError):
            list(json_values.read_objects(path, text))
        assert len(text.read()) > 90_000


def log(trace, start, end, **more):
    usage = {"prompt_tokens": 30, "completion_tokens": 4, "model": "gpt"}
    return {"id": "x", "trace_id": trace, "startTime": start, "endTime": end} | usage | more


def test_requests_of_litellm_follow_those_that_had_ended(write):
    logs = [
        log("a", 100.0, 101.0),
        # Logs have the order of ends.
        log("a", 103.0, 104.0),
        log("a", 102.0, 106.0),
        log(None, 100.5, 107.0),
        log("a", 104.5, 105.0),
        log("a", 107.5, 108.0),
        log("b", 107.0, 109.0),
    ]
    rows = list(read_trace(write("a.jsonl", logs)))
    assert [
        (row.number, row.at_ns / S, row.turn, row.after, row.pause_ns / S, row.followers)
        for row in rows
    ] == [
        (0, 0, 1, (), 0, NOT_KNOWN),
        (1, 0.5, 1, (), 0, 0),
        (2, 2, 2, (0,), 1, NOT_KNOWN),
        (3, 3, 3, (0,), 2, NOT_KNOWN),
        # The first one is implied by the one of 103 s; the one of 102 s still runs.
        (4, 4.5, 4, (3,), 0.5, NOT_KNOWN),
        (5, 7, 1, (), 0, NOT_KNOWN),
        (6, 7.5, 5, (2, 4), 1.5, NOT_KNOWN),
    ]
    assert len({row.session for row in rows}) == 3


def test_a_request_follows_one_whose_end_was_not_logged_without_a_pause(write):
    logs = [
        log("a", 100.0, 103.5),
        log("a", 102.0, None),
        log("a", 104.0, 105.0),
        log("a", 107.0, None),
        log("a", 117.0, 118.0),
    ]
    rows = list(read_trace(write("a.jsonl", logs)))
    assert [(row.after, row.pause_ns / S) for row in rows] == [
        ((), 0),
        ((), 0),
        ((0, 1), 0),
        ((2,), 2),
        ((3,), 0),
    ]


def test_requests_of_one_line_and_time_stay_in_the_order_of_the_log(write):
    logs = [log(None, 1, 2, prompt_tokens=tokens) for tokens in (7, 5, 6)]
    rows = read_trace(write("a.json", f"\n{json.dumps(logs)}"))
    assert [row.input_tokens for row in rows] == [7, 5, 6]
    late = [*logs, log(None, "late", 2)]
    with pytest.raises(FileError, match=r"b\.json:2: startTime is missing"):
        list(read_trace(write("b.json", f"\n{json.dumps(late)}")))


def test_the_messages_and_images_of_litellm_are_read(write):
    picture = {"type": "image_url", "image_url": {"url": "data:"}}
    parts = [{"type": "text", "text": "see"}, picture, picture, {"type": "text", "text": "this"}]
    messages = [
        {"role": "system", "content": "Be"},
        {"role": "user", "content": parts},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "tool", "content": "half \ud83d"},
    ]
    expected = (
        TraceMessage("system", "Be"),
        TraceMessage("user", "see\nthis"),
        TraceMessage("assistant", ""),
        TraceMessage("tool", "half ?"),
    )
    for form in (messages, json.dumps(messages)):
        (row,) = read_trace(write("a.json", json.dumps([log("a", 1, 2, messages=form)])))
        assert (row.messages, row.images, row.model) == (expected, 2, "gpt")
        assert (row.input_tokens, row.output_tokens) == (30, 4)


@pytest.mark.parametrize("text", ["", None, "redacted-by-litellm"])
def test_messages_whose_content_was_not_logged_are_none(write, text):
    messages = [{"role": role, "content": text} for role in ("system", "user")]
    (row,) = read_trace(write("a.json", json.dumps([log("a", 1, 2, messages=messages)])))
    assert (row.messages, row.input_tokens) == ((), 30)


CALLED = (
    TraceMessage("assistant", "Wait", (ToolCall("c1", "look", '{"at": "é"}'),)),
    TraceMessage("tool", "a star", (), "c1"),
)
OF_TOOLS = {
    "chats": [
        {
            "role": "assistant",
            "content": "Wait",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "look", "arguments": '{"at": "é"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "a star"},
    ],
    "messages of Anthropic": [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Wait"},
                {"type": "tool_use", "id": "c1", "name": "look", "input": {"at": "é"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "content": [{"type": "text", "text": "a star"}],
                }
            ],
        },
    ],
}


@pytest.mark.parametrize("form", OF_TOOLS)
def test_calls_of_tools_and_their_answers_are_read(write, form):
    (row,) = read_trace(write("a.jsonl", [log("a", 1, 2, messages=OF_TOOLS[form])]))
    assert row.messages == CALLED


def test_items_of_responses_are_read(write):
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "a star"},
    ]
    (row,) = read_trace(write("a.jsonl", [log("a", 1, 2, messages=items)]))
    assert row.messages == (
        TraceMessage("user", "Hi"),
        TraceMessage("assistant", "", (ToolCall("c1", "look", "{}"),)),
        TraceMessage("tool", "a star", (), "c1"),
    )


def test_parts_of_calls_in_another_form_are_empty(write):
    calls = [{"id": 7, "function": None}, {"function": {"name": "f", "arguments": None}}, "x"]
    messages = [{"role": "assistant", "tool_calls": calls}, {"role": "tool", "content": None}]
    (row,) = read_trace(write("a.jsonl", [log("a", 1, 2, messages=messages)]))
    assert row.messages == (
        TraceMessage("assistant", "", (ToolCall("", "", "{}"), ToolCall("", "f", "{}"))),
        TraceMessage("tool", ""),
    )


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ("plain", (TraceMessage("user", "plain"),)),
        ("{}", ()),
        ({}, ()),
        (None, ()),
        ("", ()),
        ([1], ()),
    ],
)
def test_messages_that_were_not_logged_are_none(write, messages, expected):
    (row,) = read_trace(write("a.jsonl", [log("a", 1, 2, messages=messages)]))
    assert row.messages == expected


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2026-01-31T12:00:00.250Z", "2026-01-31T12:00:01Z"),
        ("2026-01-31 12:00:00.250+00", "2026-01-31 14:00:01+02"),
        ("2026-01-31 12:00:00.250", "2026-01-31 12:00:01"),
        (1769860800.25, 1769860801),
    ],
)
def test_every_form_of_a_time_is_read(write, start, end):
    logs = [log("a", 1769860800, None), log("b", start, end), log("b", 1769860803, None)]
    rows = list(read_trace(write("a.jsonl", logs)))
    assert [row.at_ns for row in rows] == [0, S // 4, 3 * S]
    assert rows[2].pause_ns == 2 * S


@pytest.mark.parametrize(
    "change",
    [
        {"startTime": None},
        {"startTime": "soon"},
        {"startTime": True},
        {"prompt_tokens": "1"},
        {"completion_tokens": 1.5},
        {"prompt_tokens": -1},
    ],
)
def test_a_log_without_times_or_lengths_is_refused(write, change):
    (name,) = change
    with pytest.raises(FileError, match=rf"a\.jsonl:2: {name} is missing"):
        list(read_trace(write("a.jsonl", [log("a", 1, 2), log("a", 1, 2, **change)])))


def test_failed_requests_of_litellm_are_left_out(write):
    logs = [log("a", 1, 2), log("a", 2, 3, completion_tokens=0), log("a", 3, 4, prompt_tokens=None)]
    trace = read_trace(write("a.jsonl", logs))
    assert len(list(trace)) == 1
    assert trace.counts.left_out == {"no_tokens": 2}


def test_only_the_most_recent_values_are_remembered():
    recent = RecentlyUsed(10)
    for number in range(25):
        recent.store(number, number)
        assert [recent.get(key) for key in range(max(0, number - 9), number + 1)] == list(
            range(max(0, number - 9), number + 1)
        )
    assert recent.get(0) is None
