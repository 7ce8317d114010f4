"""The trace of `torr demo llm` has conversations that share their beginnings."""

from __future__ import annotations

from itertools import pairwise

from torr.cli.demo_trace import CONVERSATIONS, SHARED_BLOCKS, TURNS, trace_file
from torr.sources.traces.reader import read_trace


def test_turns_of_a_conversation_begin_with_the_turns_before_them(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with trace_file() as path:
        trace = read_trace(tmp_path / path)
        rows = list(trace)
        assert trace.format.name == "bailian"
    sessions = {}
    for row in rows:
        sessions.setdefault(row.session, []).append(row)
    assert len(sessions) == CONVERSATIONS
    for turns in sessions.values():
        assert [row.turn for row in turns] == list(range(1, TURNS + 1))
        for earlier, later in pairwise(turns):
            assert later.after == (earlier.number,)
            assert later.hash_ids[: len(earlier.hash_ids)] == earlier.hash_ids
    assert len({row.hash_ids[:SHARED_BLOCKS] for row in rows}) == 1
    assert len({row.hash_ids[: SHARED_BLOCKS + 1] for row in rows}) == CONVERSATIONS
