"""`--trace`: which requests are sent, at which pace, and with which rows."""

from __future__ import annotations

import json
import os
from contextlib import nullcontext

import pytest

from planned import URL, body_of, group_of, requests_of
from torr.errors import FileError, UsageError
from torr.planning.prompt_text.calibration import Calibration
from torr.planning.prompt_text.words import USUAL

CHAT = ("--chat", "openai", "--model", "m")
IDS = ("--chat", "completions", "--model", "m")
MS = 1_000_000


def mooncake(path, *rows):
    """Write a trace of rows: time in ms, lengths, and ids of blocks."""
    keys = ("timestamp", "input_length", "output_length", "hash_ids")
    path.write_text("".join(json.dumps(dict(zip(keys, row, strict=True))) + "\n" for row in rows))


@pytest.fixture
def trace(tmp_path):
    mooncake(
        tmp_path / "trace.jsonl",
        (0, 600, 5, [1, 2]),
        (500, 520, 7, [1, 3]),
        (2000, 10, 9, [4]),
    )
    lengths = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,374,44\n"
    (tmp_path / "trace.csv").write_text(lengths)
    (tmp_path / "chats.json").write_text('[{"conversations": []}]')
    return "trace.jsonl"


def fed(fake):
    """Return all rows of the last load."""
    rows = fake.loads[-1].plan.feed.open()
    return [row for batch in rows for row in batch]


def texts(fake):
    return [json.loads(row.cells[0])["content"] for row in fed(fake)]


def test_a_trace_is_sent_by_its_times_with_its_lengths(torr, fake, trace):
    assert torr("run", *CHAT, "--trace", trace, URL).code == 0
    (request,) = requests_of(fake)
    assert json.loads(
        body_of(request).replace("[{{row.messages}}]", "[]").replace("{{row.output}}", "8")
    ) == {
        "model": "m",
        "messages": [],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_completion_tokens": 8,
    }
    group = group_of(fake)
    assert group["pace"] == {"kind": "fed", "connections": 1000, "is_timed": True}
    assert group["data"] == {"fed": ["messages", "output"]}
    rows = fed(fake)
    assert [row.due_ns for row in rows] == [0, 500 * MS, 2000 * MS]
    assert [row.cells[1] for row in rows] == ["5", "7", "9"]
    assert [row.tokens for row in rows] == [(600, 5), (520, 7), (10, 9)]
    assert [len(text.split()) for text in texts(fake)] == [600, 520, 10]


def test_the_first_requests_of_sessions_are_those_of_all_users(torr, fake, tmp_path):
    request = {"type": "n", "in": 64, "out": 5, "hash_ids": [1]}
    requests = [{**request, "t": second} for second in range(4)]
    folder = tmp_path / "sessions"
    folder.mkdir()
    for number in range(10):
        session = {"id": f"{number}", "block_size": 64, "requests": requests}
        (folder / f"{number}.json").write_text(json.dumps(session))
    ended = torr("run", *CHAT, "--trace", str(folder), "-c", "3", "--requests", "8", URL)
    assert ended.code == 0
    rows = fed(fake)
    assert len(rows) == 8
    assert len({row.session for row in rows}) >= 3


def test_equal_blocks_are_equal_texts_and_the_seed_decides_which(torr, fake, trace):
    torr("run", *CHAT, "--trace", trace, URL)
    first = texts(fake)
    words = [text.split() for text in first]
    assert words[0][:512] == words[1][:512]
    assert words[0][512:520] != words[1][512:520]
    torr("run", *CHAT, "--trace", trace, URL)
    assert texts(fake) == first
    torr("run", *CHAT, "--trace", trace, "--seed", "2", URL)
    assert texts(fake) != first


def test_a_part_of_a_trace_can_be_faster_and_have_other_lengths(torr, fake, trace):
    part = ("--trace-from", "500ms", "--trace-to", "3s", "--speed", "2")
    torr("run", *CHAT, "--trace", trace, *part, "--synthesis", "output=x2,input=x0.5", URL)
    rows = fed(fake)
    assert [row.due_ns for row in rows] == [0, 750 * MS]
    assert [row.cells[1] for row in rows] == ["14", "18"]
    torr("run", *CHAT, "--trace", trace, "-z", "1s", URL)
    assert len(fed(fake)) == 2
    torr("run", *CHAT, "--trace", trace, "--requests", "1", URL)
    assert len(fed(fake)) == 1


@pytest.mark.parametrize(
    ("options", "reads_all"),
    [((), False), (("--synthesis", "output=x2"), False), (("--synthesis", "input=x2"), True)],
)
def test_rows_are_sent_before_later_ones_are_read(torr, fake, tmp_path, options, reads_all):
    mooncake(tmp_path / "trace.jsonl", *((n, 600, 5, [n, 7]) for n in range(4000)))
    with (tmp_path / "trace.jsonl").open("a") as file:
        file.write("no row\n")
    torr("run", *CHAT, "--trace", "trace.jsonl", *options, URL)
    feed = fake.loads[-1].plan.feed
    with pytest.raises(FileError, match="4001") if reads_all else nullcontext():
        assert len(next(iter(feed.open()))) > 0


def test_a_pipe_whose_part_has_no_row_is_an_error_and_no_silent_server(torr, fake, tmp_path, trace):
    reading, writing = os.pipe()
    os.write(writing, (tmp_path / trace).read_bytes())
    os.close(writing)
    pipe = f"/dev/fd/{reading}"
    try:
        torr("run", *CHAT, "--trace", pipe, "--trace-format", "mooncake", "--trace-from", "1h", URL)
        with pytest.raises(UsageError, match=r"has no request to send"):
            fed(fake)
    finally:
        os.close(reading)


def test_a_pipe_is_read_only_with_its_format(torr, fake, tmp_path, trace):
    reading, writing = os.pipe()
    os.write(writing, (tmp_path / trace).read_bytes())
    os.close(writing)
    pipe = f"/dev/fd/{reading}"
    try:
        refused = torr("run", *CHAT, "--trace", pipe, URL)
        assert refused.code == 2
        assert "--trace-format" in refused.err
        assert torr("run", *CHAT, "--trace", pipe, "--trace-format", "mooncake", URL).code == 0
        assert len(fed(fake)) == 3
    finally:
        os.close(reading)


@pytest.mark.parametrize(
    "words",
    [
        ("run", *CHAT, "--synthesis", "prefix=x2", URL),
        ("ladder", *CHAT, "--levels", "1,2", URL),
    ],
    ids=lambda words: words[0],
)
def test_a_pipe_is_refused_where_a_trace_is_read_again(torr, fake, tmp_path, trace, words):
    os.mkfifo(tmp_path / "pipe")
    writer = os.open(tmp_path / "pipe", os.O_RDWR)
    try:
        os.write(writer, (tmp_path / trace).read_bytes())
        refused = torr(*words, "--trace", "pipe", "--trace-format", "mooncake")
    finally:
        os.close(writer)
    assert refused.code == 2
    assert "can be read only once" in refused.err
    assert fake.loads == []


def test_with_users_the_rows_follow_each_other(torr, fake, trace):
    torr("run", *CHAT, "--trace", trace, "-c", "2", URL)
    assert group_of(fake)["pace"] == {"kind": "fed", "connections": 2, "is_timed": False}
    assert [row.due_ns for row in fed(fake)] == [0, 0, 0]
    assert fake.loads[-1].plan.as_json()["stop"] == {"kind": "rows"}


def test_the_levels_of_a_ladder_are_users_who_take_the_rows(torr, fake, trace):
    torr("ladder", *CHAT, "--trace", trace, "--levels", "1,3", "-z", "1s", URL)
    paces = [load.plan.groups[0].pace for load in fake.loads]
    assert {(pace.connections, pace.is_timed) for pace in paces} == {(1, False), (3, False)}
    # The time of a level is not one of the trace.
    assert len(fed(fake)) == 3


def words_of_levels(torr, fake, *options):
    """Return the words of the texts of two levels of one user."""
    torr("ladder", *CHAT, *options, "--levels", "1", "--rounds", "2", URL)
    first, second = (
        [
            json.loads(row.cells[0])["content"].split()
            for batch in load.plan.feed.open()
            for row in batch
        ]
        for load in fake.loads[-2:]
    )
    return first, second


def test_each_level_has_other_texts_that_share_as_much(torr, fake, trace):
    first, second = words_of_levels(torr, fake, "--trace", trace)
    assert [len(text) for text in first] == [len(text) for text in second] == [600, 520, 10]
    for texts_of_level in (first, second):
        assert texts_of_level[0][:512] == texts_of_level[1][:512]
    assert first[0][:3] != second[0][:3]
    assert first[2][:3] != second[2][:3]
    torr("run", *CHAT, "--trace", trace, URL)
    assert [text.split() for text in texts(fake)] == first


def test_the_texts_of_a_trace_begin_otherwise_at_each_level(torr, fake, tmp_path):
    turns = [{"from": "human", "value": text} for text in ("a", "b")]
    (tmp_path / "chats.json").write_text(json.dumps([{"id": "1", "conversations": turns}] * 2))
    first, second = words_of_levels(torr, fake, "--trace", "chats.json")
    assert first == [["a"], ["b"], ["a"], ["b"]]
    (mark, _), later, same, _ = second
    assert len(mark) == len("[01234567]")
    # A later turn follows the first one, and beginnings that sessions share stay shared.
    assert (later, same) == (["b"], [mark, "a"])


PLAN = f'[[requests]]\nname = "a"\nurl = "{URL}"\n'


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (PLAN, ("--trace", "trace.jsonl")),
        (PLAN, ("--synthesis", "output=x2")),
        (f'trace = "trace.jsonl"\n{PLAN}', ()),
        (f'trace_from = "1s"\n{PLAN}', ()),
    ],
)
@pytest.mark.usefixtures("trace")
def test_a_plan_file_with_requests_has_no_trace_and_torr_says_what_to_do_instead(
    torr, fake, tmp_path, content, options
):
    (tmp_path / "plan.toml").write_text(content)
    result = torr("run", "plan.toml", *options)
    assert result.code == 2
    assert "write url, chat and model in place of [[requests]]" in result.err
    assert not fake.loads


def test_conversations_take_the_live_answers(torr, fake, tmp_path):
    turns = [
        {"from": who, "value": text}
        for who, text in (("human", "a"), ("gpt", "b"), ("human", 'c"'))
    ]
    (tmp_path / "chats.json").write_text(json.dumps([{"id": "1", "conversations": turns}]))
    ended = torr("run", *CHAT, "--trace", "chats.json", URL)
    # The texts are those of the trace, and have no planned length.
    assert "prompt lengths" not in ended.err
    requests = requests_of(fake)
    assert [request["name"] for request in requests][::4] == [
        "turn 1",
        "turn 5",
        "turns 9–16",
        "later turns",
    ]
    assert '"messages":[{{history}}{{row.messages}}]' in body_of(requests[0])
    remember = requests[0]["remember"]
    assert remember["name"] == "history"
    filled = remember["text"].replace("{{row.messages}}", "{}").replace("{{answer | json}}", "x")
    assert json.loads(f"[{filled[:-1]}]") == [{}, {"role": "assistant", "content": "x"}]
    rows = fed(fake)
    assert [(row.after, row.followers, row.request) for row in rows] == [((), 1, 0), ((0,), 0, 1)]
    assert texts(fake) == ["a", 'c"']


def agents(path, *requests):
    """Write a session of Weka's format."""
    path.mkdir()
    (path / "a.json").write_text(json.dumps({"block_size": 64, "requests": requests}))


def of_agent(tokens, t=0):
    return {"t": t, "type": "s", "in": tokens, "out": 1, "hash_ids": []}


def test_a_duration_ends_the_level_and_not_the_sessions_whose_times_are_their_own(
    torr, fake, tmp_path
):
    agents(tmp_path / "agents", of_agent(10), of_agent(20, t=5))
    assert torr("run", *CHAT, "--trace", "agents", "-z", "1s", URL).code == 0
    assert len(fed(fake)) == 2
    assert torr("run", *CHAT, "--trace", "agents", "-z", "1s", "--trace-to", "3s", URL).code == 0
    assert len(fed(fake)) == 1


def test_the_turns_of_sub_agents_are_not_those_of_their_parent(torr, fake, tmp_path):
    sub_agent = {"t": 0, "type": "subagent", "requests": [of_agent(500), of_agent(900)]}
    agents(tmp_path / "agents", of_agent(10_000), sub_agent, of_agent(11_000))
    assert torr("run", *CHAT, "--trace", "agents", URL).code == 0
    names = [request["name"] for request in requests_of(fake)]
    rows = [
        (names[row.request], len(text.split()))
        for row, text in zip(fed(fake), texts(fake), strict=True)
    ]
    assert rows == [
        ("turn 1", 10_000),
        ("sub-agents", 500),
        ("sub-agents", 900),
        ("turn 2", 11_000),
    ]


def test_users_get_the_rows_of_sessions_side_by_side_and_times_do_not_mix_them(
    torr, fake, tmp_path
):
    turns = [{"from": "human", "value": "a"} for _ in range(4)]
    (tmp_path / "chats.json").write_text(json.dumps([{"id": "1", "conversations": turns}] * 3))
    torr("run", *CHAT, "--trace", "chats.json", "-c", "1", URL)
    rows = fed(fake)
    assert [row.session for row in rows] == [0, 0, 1, 0, 1, 0, 2, 1, 2, 1, 2, 2]
    assert [row.number for row in rows if row.session == 1] == [4, 5, 6, 7]
    mooncake(tmp_path / "trace.jsonl", *((n, 10, 1, []) for n in range(40)))
    torr("run", *CHAT, "--trace", "trace.jsonl", "-c", "4", URL)
    assert [row.number for row in fed(fake)] == list(range(40))


def test_conversations_of_burstgpt_have_a_row_for_each_turn(torr, fake, tmp_path):
    lines = ["Timestamp,Session ID,Elapsed time,Request tokens,Response tokens"]
    lines += [f"{n},{'ab'[n % 2]},0.5,10,5" for n in range(4)]
    (tmp_path / "b.csv").write_text("\n".join(lines))
    torr("run", *CHAT, "--trace", "b.csv", URL)
    names = [request["name"] for request in requests_of(fake)]
    assert [names[row.request] for row in fed(fake)] == ["turn 1", "turn 1", "turn 2", "turn 2"]


@pytest.mark.parametrize(
    ("flags", "limit"),
    [
        ((), {}),
        (("--max-tokens", "9"), {"max_completion_tokens": 9}),
        (
            ("--output-tokens", "9", "--server", "llamacpp"),
            {"max_tokens": 9, "ignore_eos": True},
        ),
    ],
)
def test_conversations_without_lengths_have_the_limit_of_the_flags(
    torr, fake, tmp_path, flags, limit
):
    turns = [{"from": "human", "value": "a"}]
    (tmp_path / "chats.json").write_text(json.dumps([{"id": "1", "conversations": turns}]))
    assert torr("run", *CHAT, "--trace", "chats.json", *flags, URL).code == 0
    body = body_of(requests_of(fake)[0]).replace("[{{history}}{{row.messages}}]", "[]")
    members = json.loads(body)
    for name in ("model", "messages", "stream", "stream_options"):
        del members[name]
    assert members == limit


def test_outputs_of_conversations_without_lengths_may_differ(torr, fake, tmp_path):
    turns = [{"from": "human", "value": "a"}] * 200
    (tmp_path / "chats.json").write_text(json.dumps([{"id": "1", "conversations": turns}]))
    flags = ("--output-tokens", "5..9", "--server", "vllm")
    assert torr("run", *CHAT, "--trace", "chats.json", *flags, URL).code == 0
    request = requests_of(fake)[0]
    assert '"max_tokens": {{row.output}}' in body_of(request)
    assert '"min_tokens": {{row.output}}' in body_of(request)
    assert "output_tokens" not in request["stream"]
    outputs = [row.cells[1] for row in fed(fake)]
    assert set(outputs) == {"5", "6", "7", "8", "9"}
    feed = fake.loads[-1].plan.feed
    assert feed.content().output_tokens.total == sum(map(int, outputs))
    assert [row.cells[1] for row in fed(fake)] == outputs


def test_completions_have_one_text(torr, fake, trace):
    torr("run", "--chat", "completions", "--model", "m", "--trace", trace, URL)
    (request,) = requests_of(fake)
    assert '"prompt":"{{row.messages}}"' in body_of(request)
    assert len(fed(fake)[0].cells[0].split()) == 600


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--trace", "trace.jsonl"), "--chat"),
        ((*CHAT, "--prompt", "p", "--trace-to", "2s"), "--trace"),
        ((*CHAT, "--trace", "trace.jsonl", "--prompt", "p"), "--prompt"),
        ((*CHAT, "--trace", "trace.jsonl", "--image", "8x8"), "--image"),
        ((*CHAT, "--trace", "trace.jsonl", "--token-ids"), "does not fit --chat openai"),
        ((*IDS, "--trace", "trace.jsonl", "--token-ids"), "--token-ids needs --tokenizer"),
        ((*IDS, "--trace", "chats.json", "--token-ids", "--tokenizer", __file__), "has texts"),
        ((*CHAT, "--trace", "chats.json", "--server", "vllm"), "--server needs --output-tokens"),
        (
            (*CHAT, "--trace", "trace.csv", "--block-tokens", "7"),
            "does not fit Azure LLM inference, which has no blocks",
        ),
        ((*CHAT, "--prompt", "p", "--block-tokens", "7"), "--trace"),
        (
            (*CHAT, "--trace", "chats.json", "--trace-from", "1s"),
            "--trace-from does not fit ShareGPT, which has no times",
        ),
        ((*CHAT, "--trace", "chats.json", "--trace-to", "1s"), "--trace-to does not fit ShareGPT"),
        ((*CHAT, "--trace", "chats.json", "--speed", "2"), "--speed does not fit ShareGPT"),
        (
            (*CHAT, "--trace", "chats.json", "--synthesis", "input=x2"),
            "prefix= and input= do not fit ShareGPT, which has texts",
        ),
        (
            (*CHAT, "--trace", "chats.json", "--synthesis", "output=x2"),
            "--synthesis does not fit ShareGPT",
        ),
        (
            (*CHAT, "--trace", "trace.csv", "--synthesis", "prefix=x2"),
            "prefix= does not fit Azure LLM inference, which has no blocks",
        ),
        (
            (*CHAT, "--trace", "trace.jsonl", "--trace-from", "2s", "--trace-to", "2s"),
            "--trace-to is not after --trace-from",
        ),
        (
            (*CHAT, "--trace", "trace.jsonl", "--trace-from", "200s"),
            "trace.jsonl has no request to send between --trace-from and --trace-to",
        ),
        ((*CHAT, "--trace", "trace.jsonl", "--rate", "5"), "--rate"),
        ((*CHAT, "--trace", "trace.jsonl", "--think", "1s"), "--think"),
        ((*CHAT, "--trace", "trace.jsonl", "--once"), "--once"),
        ((*CHAT, "--trace", "trace.jsonl", "--warmup", "2s"), "--warmup"),
        ((*CHAT, "--trace", "trace.jsonl", "--trace-format", "x"), "'x' is not a format of traces"),
        ((*CHAT, "--trace", "trace.jsonl", "--synthesis", "x=2"), "x=2"),
        ((*CHAT, "--trace", "trace.jsonl", "--max-tokens", "9"), "--trace"),
        ((*CHAT, "--trace", "trace.jsonl", "--output-tokens", "9"), "--output-tokens"),
        (("--chat", "dify", "--trace", "trace.jsonl"), "does not fit --chat dify"),
        ((*CHAT, "--trace", "none.jsonl"), "none.jsonl"),
    ],
)
@pytest.mark.usefixtures("trace")
def test_what_does_not_fit_a_trace_is_refused(torr, fake, options, why):
    result = torr("run", *options, URL)
    assert result.code == 2
    assert why in result.err
    assert not fake.loads


def test_a_trace_may_have_blocks_of_another_length(torr, fake, tmp_path):
    mooncake(tmp_path / "trace.jsonl", (0, 300, 5, [1, 2, 3, 4, 5]), (1, 260, 5, [1, 2, 3, 4, 6]))
    torr("run", *CHAT, "--trace", "trace.jsonl", URL)
    with pytest.raises(FileError, match="blocks are not of 512 tokens") as refused:
        fed(fake)
    assert "--block-tokens N" in str(refused.value.hint)
    torr("run", *CHAT, "--trace", "trace.jsonl", "--block-tokens", "64", URL)
    one, other = (text.split() for text in texts(fake))
    assert (len(one), len(other)) == (300, 260)
    assert one[:256] == other[:256]
    assert one[256:260] != other[256:260]


def test_prompts_may_be_token_ids(torr, fake, trace, ids_tokenizer):
    ids = ("--token-ids", "--tokenizer", str(ids_tokenizer))
    ended = torr("run", "--chat", "completions", "--model", "m", "--trace", trace, *ids, URL)
    assert ended.code == 0, ended.err
    body = body_of(requests_of(fake)[0])
    prompts = [
        json.loads(body.replace("{{row.messages}}", row.cells[0]).replace("{{row.output}}", "1"))
        for row in fed(fake)
    ]
    numbers = [prompt["prompt"] for prompt in prompts]
    assert [len(each) for each in numbers] == [600, 520, 10]
    assert numbers[0][:512] == numbers[1][:512]
    assert all(10 < number < 999 for each in numbers for number in each)


def test_prompts_are_shorter_by_the_tokens_of_the_template(torr, fake, trace, monkeypatch):
    known = Calibration(USUAL, "note", template_tokens=8)
    monkeypatch.setattr("torr.planning.chat._known", lambda *_: known)
    torr("run", *CHAT, "--trace", trace, URL)
    assert [len(text.split()) for text in texts(fake)] == [592, 512, 2]


def test_the_result_has_what_was_read_of_a_trace(torr, fake, trace):
    torr("run", *CHAT, "--trace", trace, URL)
    feed = fake.loads[-1].plan.feed
    assert feed.content() is None
    rows = fed(fake)
    content = feed.content()
    assert (content.format, content.rows, content.sessions) == ("mooncake", len(rows), 3)
    assert (content.input_tokens.total, content.output_tokens.total) == (1130, 21)
    # Only the first block of the second row was there before.
    assert content.repeated_tokens == pytest.approx(100 * 512 / 1130)
    assert not content.is_sampled
    # It is counted anew when the next level opens the trace.
    assert len(fed(fake)) == feed.content().rows == 3


def test_images_of_a_trace_are_counted_since_they_are_not_sent(torr, fake, tmp_path):
    (tmp_path / "trace.csv").write_text(
        "TIMESTAMP,ContextTokens,GeneratedTokens,NumImages\n"
        "2024-05-10 00:00:00,10,5,2\n2024-05-10 00:00:01,10,5,1\n"
    )
    torr("run", *CHAT, "--trace", "trace.csv", URL)
    assert len(fed(fake)) == 2
    assert fake.loads[-1].plan.feed.content().images == 3


def test_what_a_trace_has_and_is_not_sent_is_counted(torr, fake, tmp_path):
    mooncake(tmp_path / "trace.jsonl", (0, 10, 5, [1]), (1, 0, 0, []), (2, 10, 5, [1]))
    torr("run", *CHAT, "--trace", "trace.jsonl", URL)
    assert len(fed(fake)) == 2
    assert fake.loads[-1].plan.feed.content().skipped == {"no_tokens": 1}
