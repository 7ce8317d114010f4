"""The made-up trace is the same everywhere, is one of Mooncake's, and can be joined."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import pairwise

import pytest

from streams import conversations
from streams.conversations import APART_MS, BLOCK_TOKENS
from torr.sources.traces.reader import read_trace


@pytest.fixture(scope="module")
def rows():
    return conversations.conversations(400, 5.0)


def test_the_same_seed_gives_the_same_rows(rows):
    assert conversations.conversations(400, 5.0) == rows
    assert conversations.conversations(400, 5.0, seed=2) != rows


def test_torr_reads_its_rows(rows, tmp_path):
    path = tmp_path / "trace.jsonl"
    conversations.write(path, rows)
    lengths = [(row.input_length, row.output_length) for row in rows]
    assert [(row.input_tokens, row.output_tokens) for row in read_trace(path)] == lengths


def test_requests_come_at_the_rate(rows):
    times = [row.timestamp for row in rows]
    assert times == sorted(times)
    assert 400 / (times[-1] / 1000) == pytest.approx(5.0, rel=0.15)


def test_rows_of_the_same_output_length_are_far_apart(rows):
    times = defaultdict(list)
    for row in rows:
        times[row.output_length].append(row.timestamp)
    gaps = [after - before for each in times.values() for before, after in pairwise(each)]
    assert gaps
    assert min(gaps) >= APART_MS


def test_a_rate_that_leaves_no_length_free_is_an_error():
    with pytest.raises(ValueError, match="rate is too high"):
        conversations.conversations(2000, 10_000.0)


def test_each_block_has_an_id_and_the_same_tokens_wherever_it_is(rows):
    tokens = {}
    for row in rows:
        assert len(row.hash_ids) == math.ceil(row.input_length / BLOCK_TOKENS)
        for number, block in enumerate(row.hash_ids):
            of_block = min(BLOCK_TOKENS, row.input_length - number * BLOCK_TOKENS)
            assert tokens.setdefault(block, of_block) == of_block
    assert len(tokens) < sum(len(row.hash_ids) for row in rows)


def test_lengths_in_turn_are_all_used_equally():
    lengths = [row.output_length for row in conversations.lengths_in_turn(30, 5, 14)]
    assert sorted(lengths) == sorted([*range(5, 15)] * 3)
