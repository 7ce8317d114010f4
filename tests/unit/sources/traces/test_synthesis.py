"""Traces with other lengths, in which the same rows share the same parts."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torr.errors import FileError, UsageError
from torr.model.stream import MOST_TOKENS
from torr.sources.traces import synthesis as module
from torr.sources.traces.row import TraceMessage
from torr.sources.traces.synthesis import Synthesis, read_synthesis, shared_beginnings
from traces import row, with_blocks

FILE = Path("trace.jsonl")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("prefix=x2,input=x0.5,output=x3", Synthesis(2, 0.5, 3)),
        (" output=x.25", Synthesis(output=0.25)),
        ("input=x1, prefix=x1.5", Synthesis(prefix=1.5)),
        ("prefix=×2,input=×0.5", Synthesis(prefix=2, input=0.5)),
    ],
)
def test_factors_are_read(text, expected):
    assert read_synthesis(text) == expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "neither"),
        ("prefix", "not a factor"),
        ("prefix=2", "not a factor"),
        ("prefix=x", "not a factor"),
        ("prefix=x-1", "not a factor"),
        ("prefix=x0", "not above 0"),
        ("prefix=x1001", "at most 1000"),
        ("prompt=x2", "neither"),
        ("input=x2,input=x3", "twice"),
        ("input=x2,,output=x3", "neither"),
    ],
)
def test_what_is_no_factor_is_refused(text, why):
    with pytest.raises(UsageError, match=why):
        read_synthesis(text)


def scaled(each, synthesis, shared):
    return module.scaled(each, synthesis, shared, FILE)


@pytest.mark.parametrize(
    ("each", "factors"),
    [
        (row(0, input_tokens=MOST_TOKENS, output_tokens=1, line=7), {"input": 1.5}),
        (row(0, input_tokens=1, output_tokens=MOST_TOKENS, line=7), {"output": 1.5}),
        (with_blocks(0, [1, 2], block_tokens=MOST_TOKENS // 2, line=7), {"prefix": 1.5}),
        (with_blocks(0, [3], block_tokens=MOST_TOKENS, line=7), {"input": 1.5}),
    ],
    ids=["input", "output", "prefix", "rest"],
)
def test_a_length_that_cannot_be_sent_is_refused(each, factors):
    shared = shared_beginnings([with_blocks(0, [1, 2]), with_blocks(1, [1, 2])])
    same = scaled(each, Synthesis(), shared)
    assert (same.input_tokens, same.output_tokens) == (each.input_tokens, each.output_tokens)
    with pytest.raises(FileError, match=r"trace\.jsonl:7: 15,000,000 tokens .* 10,000,000"):
        scaled(each, Synthesis(**factors), shared)


def test_each_part_has_its_own_factor():
    rows = [with_blocks(0, [1, 2, 3, 4]), with_blocks(1, [1, 2, 5], tokens=40)]
    shared = shared_beginnings(rows)
    assert len(shared) == 2
    twice = [scaled(each, Synthesis(prefix=2, output=3), shared) for each in rows]
    assert [len(each.hash_ids) for each in twice] == [6, 5]
    assert [each.input_tokens for each in twice] == [96, 72]
    assert [each.output_tokens for each in twice] == [30, 30]
    assert twice[0].hash_ids[:4] == twice[1].hash_ids[:4]
    half = [scaled(each, Synthesis(input=0.5), shared) for each in rows]
    assert [each.input_tokens for each in half] == [48, 36]
    assert [len(each.hash_ids) for each in half] == [3, 3]


def test_a_length_is_never_zero():
    small = Synthesis(0.001, 0.001, 0.001)
    shared = shared_beginnings([with_blocks(0, [1, 2]), with_blocks(1, [1, 2])])
    for each in (row(0), with_blocks(0, [1, 2])):
        found = scaled(each, small, shared)
        assert (found.input_tokens, found.output_tokens) == (1, 1)


def test_rows_without_blocks_have_no_shared_part():
    assert scaled(row(0), Synthesis(prefix=9, input=2), ()).input_tokens == 200


def test_texts_stay_as_they_are():
    said = row(0, input_tokens=5, messages=(TraceMessage("user", "Hi"),))
    found = scaled(said, Synthesis(9, 9, 2), ())
    assert (found.input_tokens, found.output_tokens, found.messages) == (5, 20, said.messages)


def test_tokens_behind_the_last_id_stay_without_one():
    found = scaled(with_blocks(0, [1, 2], tokens=40), Synthesis(input=2), ())
    assert (found.input_tokens, len(found.hash_ids)) == (80, 4)


PATHS = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=7), min_size=2, max_size=8)
FACTORS = st.sampled_from([0.3, 0.5, 1, 1.25, 2, 3.7])


def test_only_what_rows_begin_with_is_longer_where_an_id_stands_for_a_block_alone():
    rows = [with_blocks(n, ids) for n, ids in enumerate([[1, 2, 3, 4], [1, 9], [2, 8], [3, 7]])]
    shared = shared_beginnings(rows)
    found = [scaled(each, Synthesis(prefix=2), shared).input_tokens for each in rows]
    assert found == [80, 48, 32, 32]
    found = [scaled(each, Synthesis(input=0.5), shared).input_tokens for each in rows]
    assert found == [40, 24, 16, 16]


@given(PATHS, FACTORS, FACTORS, st.integers(0, 15))
def test_rows_share_as_much_more_as_the_prefix_is_longer(paths, prefix, rest, cut):
    """Ids stand for a block and everything before it, as those of Mooncake."""
    ids: dict[tuple[int, ...], int] = {}
    rows = [
        with_blocks(
            number,
            [ids.setdefault(tuple(path[: n + 1]), len(ids)) for n in range(len(path))],
            tokens=len(path) * 16 - cut,
        )
        for number, path in enumerate(paths)
    ]
    shared = shared_beginnings(rows)
    synthesis = Synthesis(prefix, rest)
    found = [scaled(each, synthesis, shared) for each in rows]
    for each, new in zip(rows, found, strict=True):
        # A row of which nothing remains has one token without an id.
        assert len(new.hash_ids) == math.ceil(new.input_tokens / 16) or new.input_tokens == 1
        assert len(set(new.hash_ids)) == len(new.hash_ids)
        others = (other for other in rows if other.number != each.number)
        full_ids = each.hash_ids[: each.input_tokens // 16]
        full = max(common(full_ids, other.hash_ids) for other in others)
        rest_tokens = round((each.input_tokens - full * 16) * rest)
        whole = math.floor(full * prefix + 0.5) * 16 + rest_tokens
        assert new.input_tokens == max(1, whole)
    for one, new_one in zip(rows, found, strict=True):
        for other, new_other in zip(rows, found, strict=True):
            if one.hash_ids == other.hash_ids:
                assert new_one.hash_ids == new_other.hash_ids
                continue
            full = min(one.input_tokens, other.input_tokens) // 16
            same = common(one.hash_ids[:full], other.hash_ids[:full])
            expected = math.floor(same * prefix + 0.5)
            assert common(new_one.hash_ids, new_other.hash_ids) == expected


def common(one, other):
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))
