"""What a tokenizer makes of a level, by hand-counted streams."""

from __future__ import annotations

import json
import tracemalloc

import pytest

import typed
from torr.experiments.tokens import counted as counted_level
from torr.stats.tokenizer import read_tokenizer

MS = 1_000_000


def told(**changes):
    line = {
        "text": "one two three four five six seven eight nine ten",
        "thought": "",
        "first": "one",
        "span_ns": 80 * MS,
        "tokens": 10,
        "is_cut": False,
        "is_spread": True,
        "is_measured": True,
        "is_inside": True,
        "name": "chat",
    }
    return {**line, **changes}


@pytest.fixture
def counted(tmp_path, words_tokenizer):
    def counting(*lines):
        texts = tmp_path / "texts.jsonl"
        texts.write_text("".join(json.dumps(line) + "\n" for line in lines))
        stream = {"tpot_ms": {"n": len(lines), "mean": 9.5}, "tokens_out": 7}
        level = typed.level(
            seconds=2.0,
            stream=stream,
            histograms={"ttft": "kept"},
            requests=[{"name": "chat", "stream": stream}, {"name": "other"}],
        )
        return counted_level(level, texts, read_tokenizer(str(words_tokenizer)))

    return counting


def test_both_counts_have_their_own_time_for_each_token(counted):
    stream = counted(told(first="one two", tokens=11)).stream
    # By the server's eleven tokens, two of them in the first piece; and by the tokenizer's ten.
    assert stream.tpot_ms.mean == pytest.approx(80 / 9)
    assert stream.tokenizer.tpot_ms.mean == 10
    assert (stream.tpot_first, stream.tokens_out) == ("tokenizer", 7)


def test_a_tokenizer_of_another_model_leaves_the_servers_time_alone(counted):
    stream = counted(told(tokens=20)).stream
    assert (stream.tpot_ms.mean, stream.tpot_first) == (9.5, "one")
    assert stream.tokenizer.tokens_out == 10


@pytest.mark.parametrize("others", [[], [told()]])
def test_the_servers_time_stays_where_it_has_streams_whose_text_is_not_whole(counted, others):
    stream = counted(told(is_cut=True), *others).stream
    assert (stream.tpot_ms.mean, stream.tpot_ms.n) == (9.5, 1 + len(others))
    assert (stream.tpot_first, stream.tokenizer.uncounted) == ("one", 1)


@pytest.mark.parametrize(
    "changes", [{"is_measured": False}, {"is_spread": False}, {"tokens": None}]
)
def test_a_text_that_is_not_whole_does_not_matter_where_it_has_no_time(counted, changes):
    assert counted(told(is_cut=True, **changes), told()).stream.tpot_first == "tokenizer"


def test_without_counts_of_the_server_a_tokenizer_agrees_with_nothing(counted):
    stream = counted(told(tokens=None)).stream
    assert (stream.tpot_ms.mean, stream.tpot_first) == (9.5, "one")


def test_thoughts_count_and_are_told_apart(counted):
    stream = counted(told(thought="so be it", first="so"), told(is_inside=False)).stream
    tokenizer = stream.tokenizer
    assert (tokenizer.tokens_out, tokenizer.tokens_reasoning) == (23, 3)
    # Thirteen tokens in two seconds: the second stream ended after the window.
    assert tokenizer.tokens_per_s == 6.5
    assert (tokenizer.file, tokenizer.uncounted) == ("words.json", 0)


def test_what_began_in_the_warm_up_counts_where_it_ends(counted):
    tokenizer = counted(told(is_measured=False), told()).stream.tokenizer
    assert (tokenizer.tokens_out, tokenizer.tokens_per_s) == (10, 10)


def test_a_time_that_is_not_defined_is_left_out(counted):
    stream = counted(told(is_spread=False), told()).stream
    assert stream.tpot_ms.n == stream.tokenizer.tpot_ms.n == 1
    assert stream.tokenizer.uncounted == 0


def test_steps_have_their_own_and_what_streams_not_has_none(counted):
    level = counted(told(), told(name="more"))
    chat, other = level.requests
    assert chat.stream.tokenizer.tokens_out == 10
    assert level.stream.tokenizer.tokens_out == 20
    assert other.stream is None
    assert level.histograms["ttft"] == "kept"
    assert level.histograms["tpot"]


CUT = {
    "code": "warning.texts_end_early",
    "values": {"error": "disk full"},
    "text": "the file of texts ends early: disk full",
}


def test_what_cannot_be_counted_costs_no_level(counted, tmp_path, words_tokenizer):
    level = counted(told(span_ns=None))
    assert "tokens were not counted" in level.warnings[0]
    assert level.stream.tokenizer is None
    cut = typed.changed(level, warnings=[CUT])
    level = counted_level(cut, tmp_path / "none", read_tokenizer(str(words_tokenizer)))
    assert level.warnings[1] == "tokens were not counted: the file of texts is not whole"


def test_a_stream_takes_few_bytes_after_its_tokens_were_counted(tmp_path, words_tokenizer):
    tokenizer = read_tokenizer(str(words_tokenizer))
    texts = tmp_path / "texts.jsonl"
    level = typed.level(seconds=2.0, stream={"tpot_ms": {"n": 1, "mean": 9.5}, "tokens_out": 7})

    def peak(count):
        texts.write_text(count * f"{json.dumps(told())}\n")
        tracemalloc.start()
        try:
            found = counted_level(level, texts, tokenizer)
            return found.stream.tokenizer.tokens_out, tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(2_000)
    (few, before), (many, after) = peak(2_000), peak(8_000)
    assert (few, many) == (20_000, 80_000)
    assert after - before < 6_000 * 50
