"""Traces with a row in each line: Mooncake, Bailian, BurstGPT and Azure."""

from __future__ import annotations

import pytest

from torr.errors import FileError
from torr.sources.traces.reader import read_trace
from torr.sources.traces.row import NOT_KNOWN
from torr.sources.traces.trace_format import ReadOptions

MS, S = 1_000_000, 1_000_000_000


def told(rows, *names):
    """The values of some fields of each row."""
    return [tuple(getattr(row, name) for name in names) for row in rows]


MOONCAKE = [
    {"timestamp": 27482, "input_length": 1024, "output_length": 52, "hash_ids": [46, 47]},
    {"timestamp": 30535, "input_length": 1025, "output_length": 26, "hash_ids": [46, 47, 2366]},
    {"timestamp": 30535, "input_length": 5, "output_length": 1, "hash_ids": [9]},
]


def test_mooncake_has_times_in_milliseconds_and_blocks_of_512_tokens(write):
    trace = read_trace(write("a.jsonl", MOONCAKE))
    rows = list(trace)
    assert trace.format.name == "mooncake"
    assert told(rows, "number", "at_ns", "input_tokens", "output_tokens", "hash_ids") == [
        (0, 0, 1024, 52, (46, 47)),
        (1, 3053 * MS, 1025, 26, (46, 47, 2366)),
        (2, 3053 * MS, 5, 1, (9,)),
    ]
    assert told(rows, "session", "turn", "after", "followers", "pause_ns", "block_tokens") == [
        (number, 1, (), 0, 0, 512) for number in range(3)
    ]


def test_blocks_of_mooncake_that_do_not_fit_the_length_are_an_error(write):
    path = write("a.jsonl", [MOONCAKE[0], {**MOONCAKE[0], "hash_ids": [1] * 64}])
    with pytest.raises(FileError, match=r"a\.jsonl:2: 64 hash_ids for 1,024 tokens.*512"):
        list(read_trace(path))
    first = {**MOONCAKE[0], "hash_ids": [1] * 64}
    rows = read_trace(write("b.jsonl", [first]), options=ReadOptions(block_tokens=16))
    assert next(rows).block_tokens == 16


def test_a_trace_of_mooncake_may_have_no_blocks(write):
    rows = read_trace(write("a.jsonl", [{"timestamp": 1.5, "input_length": 7, "output_length": 2}]))
    assert next(rows).hash_ids == ()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"timestamp": 1, "input_length": -1, "output_length": 1}', "input_length"),
        ('{"timestamp": 1, "input_length": 1}', "output_length"),
        ('{"timestamp": 1, "input_length": 1.5, "output_length": 1}', "input_length"),
        ('{"timestamp": 1, "input_length": 1, "output_length": 1, "hash_ids": ["a"]}', "hash_ids"),
        ('{"timestamp": 1, "input_length"', "truncated"),
        ('{"timestamp": 1e400, "input_length": 1, "output_length": 1}', "range|<="),
        ("[" * 5000, "Expected|recursion"),
    ],
)
def test_an_error_names_the_file_and_the_line(write, line, why):
    good = '{"timestamp": 1, "input_length": 1, "output_length": 1}\n'
    with pytest.raises(FileError, match=rf"a\.jsonl:4: not a row: .*({why})"):
        list(read_trace(write("a.jsonl", f"{good}\n{good}{line}\n{good}")))


def test_a_line_that_is_not_utf_8_is_an_error_at_its_line(write):
    good = b'{"timestamp": 1, "input_length": 1, "output_length": 1}\n'
    with pytest.raises(FileError, match=r"a\.jsonl:2: "):
        list(read_trace(write("a.jsonl", good + b'{"timestamp\xff": 1}\n')))


BAILIAN = [
    {"chat_id": 55, "parent_chat_id": -1, "timestamp": 61.114, "turn": 1, "hash_ids": [1089, 1090]},
    {"chat_id": 7, "parent_chat_id": -1, "timestamp": 62, "turn": 1, "hash_ids": [4]},
    {"chat_id": 159, "parent_chat_id": 55, "timestamp": 70.5, "turn": 2, "hash_ids": [1089, 5]},
    {"chat_id": 160, "parent_chat_id": 55, "timestamp": 71.0, "turn": 2, "hash_ids": [1089, 6]},
    {"chat_id": 161, "parent_chat_id": 159, "timestamp": 80.25, "turn": 3, "hash_ids": [1089, 7]},
    {"chat_id": 162, "parent_chat_id": 12, "timestamp": 81, "turn": 4, "hash_ids": [8]},
]


def test_bailian_links_chats_to_their_parents(write):
    lengths = {"input_length": 20, "output_length": 3, "type": "text"}
    trace = read_trace(write("a.jsonl", [{**row, **lengths} for row in BAILIAN]))
    assert told(trace, "at_ns", "session", "turn", "after", "followers") == [
        (0, 55, 1, (), NOT_KNOWN),
        (886 * MS, 7, 1, (), NOT_KNOWN),
        (9386 * MS, 55, 2, (0,), NOT_KNOWN),
        (9886 * MS, 55, 2, (0,), NOT_KNOWN),
        (19136 * MS, 55, 3, (2,), NOT_KNOWN),
        (19886 * MS, 12, 4, (), NOT_KNOWN),
    ]
    assert trace.format.name == "bailian"
    assert trace.counts.without_parent == 1


BURSTGPT_1 = """Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45,GPT-4,1087,230,1317,API log
1106,ChatGPT,0,0,0,Conversation log
1107,ChatGPT,12,0,12,API log
1110.5,ChatGPT,3.0,4,7,API log
"""


def test_burstgpt_has_times_in_seconds_and_failed_requests_are_left_out(write):
    trace = read_trace(write("a.csv", BURSTGPT_1))
    assert told(trace, "at_ns", "input_tokens", "output_tokens", "model", "followers") == [
        (0, 472, 18, "ChatGPT", 0),
        (40 * S, 1087, 230, "GPT-4", 0),
        (1_105_500 * MS, 3, 4, "ChatGPT", 0),
    ]
    assert trace.format.name == "burstgpt"
    assert trace.counts.left_out == {"no_tokens": 2}


BURSTGPT_3 = """Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Log Type
19440110.0,1722ac82-0a46,43,GPT-4,906,446,Conversation log
19440161.0,d5983bf9-4b48,2,ChatGPT,36,29,Conversation log
19440192.0,1722ac82-0a46,,GPT-4,1400,10,Conversation log
19440193.0,,1,GPT-4,14,10,API log
19440200.0,1722ac82-0a46,7,GPT-4,1500,0,Conversation log
19440201.0,1722ac82-0a46,7,GPT-4,1500,9,Conversation log
"""


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([5, 5, 5, 5, 6, 6, 7], [0, 0.25, 0.5, 0.75, 1, 1.5, 2]),
        ([5, 5, 6.5, 7, 7], [0, 0, 1.5, 2, 2]),
        ([5.25, 6, 6, 7, 7], [0, 0.75, 0.75, 1.75, 1.75]),
        ([*[3] * 1200, 4, 4], [*[0] * 1200, 1, 1.5]),
    ],
    ids=["whole", "fraction", "first", "many"],
)
def test_requests_of_the_same_whole_second_are_spread_within_it(write, times, expected):
    lines = "".join(f"{time},gpt,10,20\n" for time in times)
    rows = read_trace(
        write("trace.csv", f"Timestamp,Model,Request tokens,Response tokens\n{lines}")
    )
    assert [row.at_ns / S for row in rows] == pytest.approx(expected)


def test_sessions_of_burstgpt_are_conversations_whose_turns_follow_one_another(write):
    trace = read_trace(write("a.csv", BURSTGPT_3))
    rows = list(trace)
    assert told(rows, "at_ns", "turn", "after", "followers", "pause_ns") == [
        (0, 1, (), NOT_KNOWN, 0),
        (51 * S, 1, (), NOT_KNOWN, 0),
        (82 * S, 2, (0,), NOT_KNOWN, 39 * S),
        (83 * S, 1, (), 0, 0),
        (91 * S, 3, (2,), NOT_KNOWN, 0),
    ]
    sessions = [row.session for row in rows]
    assert sessions[0] == sessions[2] == sessions[4]
    assert len(set(sessions)) == 3


AZURE_2023 = (
    "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
    "2023-11-16 18:17:03.9799600,4808,10\r\n"
    "2023-11-16 18:17:04.0319600,110,27"
)
AZURE_2024 = (
    "TIMESTAMP,ContextTokens,GeneratedTokens\n"
    "2024-05-10 00:00:00.009930+00:00,2162,5\n"
    "2024-05-10 00:00:01+00:00,2399,6\n"
)
AZURE_2025 = (
    "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n"
    "2024-10-15 10:00:00.5,2,2162,5\n"
    "2024-10-15 10:00:01,0,2399,6\n"
)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (AZURE_2023, [(0, 4808, 10, 0), (52 * MS, 110, 27, 0)]),
        (AZURE_2024, [(0, 2162, 5, 0), (990_070_000, 2399, 6, 0)]),
        (AZURE_2025, [(0, 2162, 5, 2), (500 * MS, 2399, 6, 0)]),
        (f"\ufeff{AZURE_2024}", [(0, 2162, 5, 0), (990_070_000, 2399, 6, 0)]),
    ],
    ids=["2023", "2024", "2025", "byte order mark"],
)
def test_azure_has_every_form_of_times(write, text, rows):
    trace = read_trace(write("a.csv", text))
    assert trace.format.name == "azure"
    assert told(trace, "at_ns", "input_tokens", "output_tokens", "images") == rows


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("2024-05-10 00:00:00,x,1", "ContextTokens is 'x'"),
        ("2024-05-10 00:00:00,1,-1", "GeneratedTokens is '-1'"),
        ("2024-05-10 00:00:00,1,1.5", "GeneratedTokens is '1.5'"),
        ("2024-13-10 00:00:00,1,1", "TIMESTAMP is '2024-13-10"),
        ("2024-05-10 00:00:00,1", "2 values for 3 columns"),
        ("2024-05-10 00:00:00,1,1e999", "GeneratedTokens"),
        (f"2024-05-10 00:00:00,1,{'9' * 5000}", "GeneratedTokens"),
    ],
)
def test_a_row_of_csv_that_cannot_be_read_is_named(write, line, why):
    text = f"{AZURE_2024}{line}\n"
    with pytest.raises(FileError, match=rf"a\.csv:4: {why}"):
        list(read_trace(write("a.csv", text)))


def test_a_column_that_is_missing_is_named(write):
    path = write("a.csv", "Timestamp,Request tokens\n1,2\n")
    with pytest.raises(FileError, match="no column 'Response tokens'"):
        read_trace(path, "burstgpt")
