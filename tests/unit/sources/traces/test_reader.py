"""Reading traces: formats are recognised, and the memory is bounded."""

from __future__ import annotations

import gzip
import json
import os
import re
import threading
import tracemalloc
from contextlib import nullcontext

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiers import full
from torr.errors import FileError, UsageError
from torr.model.stream import MOST_TOKENS
from torr.sources.traces import json_values, order, sessions, source
from torr.sources.traces.formats import FORMATS, detect_format
from torr.sources.traces.reader import bytes_of, read_trace

MOONCAKE = {"timestamp": 0, "input_length": 600, "output_length": 2, "hash_ids": [1, 2]}
WEKA = {"id": "a", "block_size": 64, "requests": [{"t": 0, "type": "s", "in": 1, "out": 1}]}
WEKA["requests"][0]["hash_ids"] = []
BURSTGPT_3 = "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens"
SHAREGPT = {"id": "a", "conversations": [{"from": "human", "value": "Hi"}]}
LITELLM = {"startTime": 1.0, "endTime": 2.0, "prompt_tokens": 1, "completion_tokens": 1}
BAILIAN = {**MOONCAKE, "chat_id": 1, "parent_chat_id": -1, "turn": 1}

BEGINNINGS = {
    "mooncake": json.dumps(MOONCAKE),
    "bailian": json.dumps(BAILIAN),
    "weka": json.dumps(WEKA, indent=2),
    "sharegpt": json.dumps([SHAREGPT]),
    "litellm": json.dumps(
        {"messages": [{"role": "user", "content": '{"hash_ids": 1}'}], **LITELLM}
    ),
    "burstgpt": "Timestamp,Model,Request tokens,Response tokens\n1,a,2,3\n",
    "azure": "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:17:03,4,5",
}


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_format_is_recognised_by_its_beginning(write, name):
    path = write("trace", BEGINNINGS[name])
    assert detect_format(path) == name
    trace = read_trace(path)
    assert trace.format.name == name
    assert len(list(trace)) == 1


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_format_is_read_packed(write, name):
    path = write("trace.gz", gzip.compress(BEGINNINGS[name].encode()))
    assert detect_format(path) == name
    assert len(list(read_trace(path))) == 1


def test_a_trace_is_read_from_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(BEGINNINGS["mooncake"],))
    writer.start()
    try:
        assert len(list(read_trace(pipe))) == 1
    finally:
        writer.join()


def test_a_pipe_has_no_checksum_whose_bytes_would_be_lost_to_the_load(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="can be read only once"):
        next(bytes_of(tmp_path / "pipe"))


TOO_LONG = MOST_TOKENS + 1
ROWS_THAT_ARE_TOO_LONG = {
    "mooncake": json.dumps({**MOONCAKE, "output_length": TOO_LONG}),
    "bailian": json.dumps({**BAILIAN, "input_length": TOO_LONG}),
    "weka": json.dumps({**WEKA, "requests": [{**WEKA["requests"][0], "in": TOO_LONG}]}),
    "litellm": json.dumps({**LITELLM, "prompt_tokens": TOO_LONG}),
    "burstgpt": f"Timestamp,Request tokens,Response tokens\n1,{TOO_LONG},3\n",
    "azure": f"TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:17:03,4,{TOO_LONG}",
}


@pytest.mark.parametrize("name", sorted(ROWS_THAT_ARE_TOO_LONG))
def test_a_length_that_cannot_be_sent_is_refused(write, name):
    for tokens, refused in ((MOST_TOKENS, False), (TOO_LONG, True)):
        path = write("trace", ROWS_THAT_ARE_TOO_LONG[name].replace(str(TOO_LONG), str(tokens)))
        with pytest.raises(FileError) if refused else nullcontext() as caught:
            list(read_trace(path, name))
    line = 2 if path.read_text().startswith("T") else 1
    assert caught.value.line == line
    assert re.search("10,?000,?000", str(caught.value))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('{"prompt": "a"}\n', "not a known format"),
        ("a,b\n1,2\n", "not a known format"),
        ("", "no row"),
        (" \n", "no row"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n", "Git LFS"),
    ],
)
def test_an_unknown_format_is_refused(write, content, why):
    path = write("trace", content)
    for read in (detect_format, read_trace):
        with pytest.raises(FileError, match=why) as caught:
            read(path)
        if "known" in why:
            assert all(name in caught.value.hint for name in FORMATS)


def test_a_format_that_does_not_exist_is_refused(write):
    with pytest.raises(UsageError, match="'moon' is not a format") as caught:
        read_trace(write("trace", BEGINNINGS["azure"]), "moon")
    assert "mooncake" in caught.value.hint


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match="nothing: No such file"):
        read_trace(tmp_path / "nothing")


def test_a_packed_file_that_is_cut_is_refused(write):
    rows = [
        {**MOONCAKE, "timestamp": number, "output_length": number + 1} for number in range(3000)
    ]
    packed = gzip.compress("".join(f"{json.dumps(row)}\n" for row in rows).encode())
    with pytest.raises(UsageError, match=r"a\.gz: not a whole gzip file"):
        list(read_trace(write("a.gz", packed[:-20])))


def test_a_trace_without_a_request_that_can_be_sent_is_refused(write):
    path = write("a.jsonl", [{**MOONCAKE, "output_length": 0}])
    with pytest.raises(UsageError, match="no request that can be sent") as caught:
        read_trace(path)
    assert caught.value.hint.startswith("left out: requests without a token")


def test_a_line_that_does_not_end_is_refused(write, monkeypatch):
    monkeypatch.setattr(source, "LONGEST_LINE", 100)
    path = write("a.jsonl", [MOONCAKE, {**MOONCAKE, "more": "x" * 100}])
    with pytest.raises(FileError, match=r"a\.jsonl:2: it is longer than"):
        list(read_trace(path))


def test_rows_are_put_in_order_within_a_bounded_number_of_rows(write, monkeypatch):
    monkeypatch.setattr(order, "MOST_ROWS_AHEAD", 3)
    times = [0, 4, 3, 2, 6, 5]
    rows = [{**MOONCAKE, "timestamp": time} for time in times]
    found = [row.at_ns // 1_000_000 for row in read_trace(write("a.jsonl", rows))]
    assert found == sorted(times)
    late = [*rows, *({**MOONCAKE, "timestamp": time} for time in (7, 8, 9, 10, 1))]
    with pytest.raises(FileError, match=r"b\.jsonl:11: this row is earlier") as caught:
        list(read_trace(write("b.jsonl", late)))
    assert "sort the file" in caught.value.hint


def test_rows_of_many_blocks_are_read_less_far_ahead(write, monkeypatch):
    monkeypatch.setattr(order, "MOST_BYTES_AHEAD", 100)
    rows = [{**MOONCAKE, "timestamp": time} for time in (0, 3, 2, 1)]
    with pytest.raises(FileError, match=r"a\.jsonl:4: this row is earlier"):
        list(read_trace(write("a.jsonl", rows)))


def test_both_limits_of_the_order_are_named(write, monkeypatch):
    monkeypatch.setattr(order, "MOST_ROWS_AHEAD", 2)
    rows = [{**MOONCAKE, "timestamp": time} for time in (5, 6, 7, 1)]
    with pytest.raises(FileError) as caught:
        list(read_trace(write("a.jsonl", rows)))
    assert "at most 2 rows and 16 MiB" in caught.value.hint


def rows_of(many):
    for number in range(many):
        yield json.dumps({**MOONCAKE, "timestamp": number, "hash_ids": [number, number + 1]})


LINES = {
    "mooncake": '{{"timestamp": {0}, "input_length": 600, "output_length": 2,'
    ' "hash_ids": [{0}, 7]}}',
    "bailian": '{{"chat_id": {0}, "parent_chat_id": -1, "timestamp": {0}, "input_length": 20,'
    ' "output_length": 2, "hash_ids": [{0}, 7]}}',
    "burstgpt": "{0}.0,{0},1,GPT-4,600,2",
    "litellm": '{{"trace_id": "{0}", "startTime": {0}, "prompt_tokens": 6,'
    ' "completion_tokens": 2}}',
    "sharegpt": '{{"conversations": [{{"from": "human", "value": "{0}"}}]}}',
}


@pytest.mark.parametrize("name", ["mooncake", *full("bailian", "burstgpt", "litellm", "sharegpt")])
def test_the_memory_does_not_grow_with_the_trace(tmp_path, name, monkeypatch):
    monkeypatch.setattr(sessions, "MOST_SESSIONS", 800)
    monkeypatch.setattr(order, "MOST_ROWS_AHEAD", 100)
    monkeypatch.setattr(source, "HEAD_BYTES", 1000)
    monkeypatch.setattr(json_values, "_PIECE", 10_000)
    path = tmp_path / "trace"
    many = 10_000
    with path.open("w") as file:
        if name == "burstgpt":
            print(BURSTGPT_3, file=file)
        for number in range(many):
            print(LINES[name].format(number), file=file)
    tracemalloc.start()
    count = sum(1 for _ in read_trace(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == many
    # What is remembered of each row would be more.
    assert peak < 1_200_000


def test_a_trace_is_read_no_further_than_it_is_needed(write, monkeypatch):
    monkeypatch.setattr(source, "HEAD_BYTES", 1000)
    monkeypatch.setattr(source, "_BUFFER_BYTES", 1000)
    text = "".join(f"{line}\n" for line in rows_of(5000))
    broken = write("a.jsonl", f"{text}no JSON\n")
    trace = read_trace(broken)
    assert [next(trace).number for _ in range(3000)] == list(range(3000))
    trace.close()
    with pytest.raises(FileError, match="5001"):
        list(read_trace(broken))


KEYS = (
    "timestamp input_length output_length hash_ids conversations from human value requests t s"
    " block_size type subagent startTime prompt_tokens completion_tokens messages"
)
PIECES = st.sampled_from(
    [
        *('"', "{", "}", "[", "]", ",", ":", "\n", "\r\n", " ", "1", "1.5", "null", "true", "é"),
        *("\\u0041", "\x00", "\ud800", "1e999", "-1", "2024-05-10 00:00:00"),
        *("TIMESTAMP", "Timestamp", "Request tokens", *(f'"{key}"' for key in KEYS.split())),
    ]
)
BYTES = st.lists(PIECES, max_size=40).map(lambda x: "".join(x).encode("utf-8", "surrogatepass"))


@settings(max_examples=300)
@given(data=st.data(), name=st.sampled_from(sorted(FORMATS)))
def test_any_bytes_are_rows_or_an_error(tmp_path_factory, data, name):
    whole = BEGINNINGS[name].encode()
    at = data.draw(st.integers(0, len(whole)))
    content = whole[:at] + data.draw(BYTES) + whole[at + data.draw(st.integers(0, 3)) :]
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(content)
    try:
        rows = list(read_trace(path, name))
    except UsageError:
        return
    assert [row.number for row in rows] == list(range(len(rows)))
    assert all(before < row.number for row in rows for before in row.after)
