"""Tokens of a level by a tokenizer: read from what the engine kept of its streams.

The texts lie in a file of the run only until they are counted.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torr import engine

if TYPE_CHECKING:
    from torr.engine import Level
    from torr.stats.tokenizer import Tokenizer

# Streams whose texts are in memory at once.
_BATCH = 1000


@dataclass(frozen=True, slots=True)
class _Told:
    """One stream: tokens of its text, of its thoughts and of its first piece; and its times."""

    name: str
    tokens: int
    thoughts: int
    first: int
    server: int | None
    span_ns: int
    is_spread: bool
    is_inside: bool
    is_cut: bool

    def tpot_ns(self, tokens: int | None) -> int | None:
        """(last text − first text) / (tokens − tokens in the first piece), where defined."""
        if tokens is None or tokens <= self.first or not self.is_spread or self.is_cut:
            return None
        return self.span_ns // (tokens - self.first)


def with_tokens(level: Level, texts: Path, tokenizer: Tokenizer) -> Level:
    """The level with `stream.tokenizer`, and with the tokens of first pieces in `stream.tpot_ms`.

    The same for each of its steps. Removes the file of texts.
    """
    told: dict[str, list[_Told]] = defaultdict(list)
    for each in _counted(texts, tokenizer):
        told[each.name].append(each)
    texts.unlink(missing_ok=True)
    everything = [each for some in told.values() for each in some]
    steps = [
        _with(step, told[step["name"]], tokenizer.name, level["seconds"])
        for step in level.get("steps") or ()
    ]
    return {**_with(level, everything, tokenizer.name, level["seconds"]), "steps": steps}


def _with(part: Level, told: Sequence[_Told], file: str, seconds: float) -> Level:
    stream = part.get("stream")
    if not stream:
        return part
    tpot, histogram = engine.statistics(_known(each.tpot_ns(each.server) for each in told))
    own, _ = engine.statistics(_known(each.tpot_ns(each.tokens + each.thoughts) for each in told))
    counted = [each for each in told if not each.is_cut]
    inside = sum(each.tokens + each.thoughts for each in counted if each.is_inside)
    tokenizer = {
        "file": file,
        "tokens_out": sum(each.tokens + each.thoughts for each in counted),
        "tokens_reasoning": sum(each.thoughts for each in counted),
        "tokens_per_s": inside / seconds if seconds else None,
        "tpot_ms": own,
        "uncounted": len(told) - len(counted),
    }
    more = {"tpot_ms": tpot, "tpot_first": "tokenizer", "tokenizer": tokenizer}
    found = {**part, "stream": {**stream, **more}}
    if "histograms" in part:
        found["histograms"] = {**part["histograms"], "tpot": histogram}
    return found


def _known(values: Iterator[int | None]) -> list[int]:
    return [value for value in values if value is not None]


def _counted(texts: Path, tokenizer: Tokenizer) -> Iterator[_Told]:
    with texts.open(encoding="utf-8", errors="replace") as lines:
        batch: list[dict[str, Any]] = []
        for line in lines:
            batch.append(json.loads(line))
            if len(batch) == _BATCH:
                yield from _of_batch(batch, tokenizer)
                batch = []
        yield from _of_batch(batch, tokenizer)


def _of_batch(batch: Sequence[dict[str, Any]], tokenizer: Tokenizer) -> Iterator[_Told]:
    counts = (
        tokenizer.count([_readable(line[key]) for line in batch])
        for key in ("text", "thought", "first")
    )
    for line, tokens, thoughts, first in zip(batch, *counts, strict=True):
        yield _Told(
            name=line["name"],
            tokens=tokens,
            thoughts=thoughts,
            first=first,
            server=line["tokens"],
            span_ns=line["span_ns"],
            is_spread=line["is_spread"],
            is_inside=line["is_inside"],
            is_cut=line["is_cut"],
        )


def _readable(text: str) -> str:
    """The text without halves of characters, which a first piece may end with."""
    return text.encode(errors="replace").decode()
