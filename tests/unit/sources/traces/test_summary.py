"""What a trace is like, and how much of it a cache would have."""

from __future__ import annotations

import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torr.sources.traces.prefix_share import PrefixShare
from torr.sources.traces.row import NOT_KNOWN
from torr.sources.traces.summary import LengthCounter, TraceSummary
from traces import row, with_blocks


def rows_of_groups(groups, prompts, prefix, own):
    """Prompts of groups: of each group, the first `prefix` blocks are the same."""
    rows = [
        [("group", group, n) for n in range(prefix)]
        + [("own", group, prompt, n) for n in range(own)]
        for group in range(groups)
        for prompt in range(prompts)
    ]
    random.Random(1).shuffle(rows)
    ids: dict[object, int] = {}
    for number, blocks in enumerate(rows):
        yield with_blocks(number, [ids.setdefault(block, len(ids)) for block in blocks])


def test_the_share_of_a_trace_is_that_of_its_construction():
    share = PrefixShare()
    for each in rows_of_groups(groups=10, prompts=50, prefix=6, own=4):
        share.add(each)
    # All prompts of a group but its first have its 6 blocks of 10 in the cache.
    assert (share.blocks, share.cached_blocks) == (5000, 10 * 49 * 6)
    assert share.of_blocks == share.of_tokens == 0.588
    assert not share.is_estimate


@pytest.mark.parametrize(
    ("rows", "cached", "of_tokens"),
    [
        ([[1, 2], [1, 2]], 2, 0.5),
        # An id is not in the cache behind another beginning.
        ([[1, 2], [3, 2]], 0, 0),
        ([[1, 2], [2, 1]], 0, 0),
        ([[1, 1, 1], [1]], 1, 0.25),
        ([[1], [], [1]], 1, 0.5),
    ],
)
def test_a_block_is_in_the_cache_behind_the_same_beginning(rows, cached, of_tokens):
    share = PrefixShare()
    for number, ids in enumerate(rows):
        share.add(with_blocks(number, ids))
    assert (share.cached_blocks, share.of_tokens) == (cached, of_tokens)


def test_the_last_block_counts_as_many_tokens_as_it_has():
    share = PrefixShare()
    share.add(with_blocks(0, [1, 2], tokens=20))
    share.add(with_blocks(1, [1, 2], tokens=20))
    # Tokens behind the last id are in no cache.
    share.add(with_blocks(2, [1], tokens=60))
    assert (share.tokens, share.cached_tokens) == (100, 36)


def test_a_trace_without_blocks_has_no_share():
    share = PrefixShare()
    share.add(row(0))
    assert (share.of_blocks, share.of_tokens) == (None, None)


@pytest.mark.parametrize("most", [500, 5000])
def test_a_share_of_more_blocks_than_are_remembered_is_estimated(most):
    share = PrefixShare(most)
    for each in rows_of_groups(groups=400, prompts=5, prefix=10, own=15):
        share.add(each)
    assert share.is_estimate
    assert len(share._known) <= most
    assert share.of_blocks == pytest.approx(0.8 * 0.4, abs=0.03)
    assert share.of_tokens == pytest.approx(0.8 * 0.4, abs=0.03)


@given(st.lists(st.integers(0, 2**40), min_size=1, max_size=200))
def test_percentiles_are_at_most_one_percent_too_high(lengths):
    counter = LengthCounter()
    for length in lengths:
        counter.add(length)
    found = counter.statistics()
    ordered = sorted(lengths)
    assert (found.n, found.total, found.least) == (len(lengths), sum(lengths), ordered[0])
    assert (found.most, found.mean) == (ordered[-1], sum(lengths) / len(lengths))
    for percent, value in ((50, found.p50), (90, found.p90), (99, found.p99)):
        exact = ordered[-(-len(ordered) * percent // 100) - 1]
        assert exact <= value <= exact * 1.01


def test_a_summary_adds_rows_up():
    rows = [
        row(0, 0, session=9, followers=NOT_KNOWN, model="a"),
        row(1, 5, images=2, model="b"),
        row(2, 9, session=9, turn=2, followers=NOT_KNOWN, input_tokens=None, output_tokens=None),
    ]
    summary = TraceSummary()
    assert list(summary.passing(rows)) == rows
    assert (summary.rows, summary.sessions, summary.images, summary.last_ns) == (3, 2, 2, 9)
    assert (summary.input.n, summary.output.mean, summary.models) == (2, 10, {"a", "b"})


def test_an_empty_summary_has_no_lengths():
    summary = TraceSummary()
    assert (summary.input, summary.output, summary.last_ns) == (None, None, None)


def test_the_memory_of_a_summary_is_bounded(monkeypatch):
    monkeypatch.setattr("torr.sources.traces.summary._MOST_SESSIONS", 100)
    summary = TraceSummary()
    summary.share = PrefixShare(100)
    tracemalloc.start()
    for number in range(3_000):
        ids = (number * 2, number * 2 + 1)
        more = {"session": number, "followers": NOT_KNOWN, "model": str(number)}
        summary.add(row(number, input_tokens=number, hash_ids=ids, block_tokens=16, **more))
    # Other threads of the process have memory, too.
    ours = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, "*/torr/*")])
    tracemalloc.stop()
    assert summary.sessions == 3_000
    # 50 bytes for each row, or for each session, would be more.
    assert 0 < sum(trace.size for trace in ours.traces) < 150_000
