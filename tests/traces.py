"""Rows of traces, as the readers of formats give them."""

from __future__ import annotations

from torr.sources.traces.row import TraceRow


def row(number, at_ns=0, **more):
    """Return a row with a session of its own."""
    members = {
        "number": number,
        "at_ns": at_ns,
        "session": number,
        "turn": 1,
        "after": (),
        "followers": 0,
        "pause_ns": 0,
        "input_tokens": 100,
        "output_tokens": 10,
    }
    return TraceRow(**{**members, **more})


def with_blocks(number, ids, tokens=None, block_tokens=16, **more):
    """Return a row with so many blocks, all of them full unless its length is given."""
    tokens = len(ids) * block_tokens if tokens is None else tokens
    ids = {"hash_ids": tuple(ids), "block_tokens": block_tokens}
    return row(number, input_tokens=tokens, **ids, **more)
