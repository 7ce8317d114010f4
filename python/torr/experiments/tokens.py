"""Count the tokens of a level with a tokenizer, from the texts that the engine writes.

The file of texts is deleted when they are counted.
"""

from __future__ import annotations

import json
from array import array
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from torr import engine
from torr.messages.message import message
from torr.results.level import Level, NamedRequest
from torr.results.stream import TokenizerCounts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from torr.experiments.context import RunContext
    from torr.model.plan import Plan
    from torr.results.stream import StreamStatistics
    from torr.stats.tokenizer import Tokenizer

Part = TypeVar("Part", Level, NamedRequest)

# Streams whose texts are in memory at once.
_BATCH = 1000

# A tokenizer that counts otherwise than the server by more than this share is another model's.
_TOLERANCE = 0.1


@dataclass(frozen=True, slots=True)
class _StreamTokens:
    """The tokens of one stream, of its thoughts and its first piece, and its times."""

    name: str
    tokens: int
    thoughts: int
    first: int
    server: int | None
    span_ns: int
    is_spread: bool
    is_measured: bool
    is_inside: bool
    is_cut: bool

    @property
    def all_tokens(self) -> int:
        """The tokens of text and thoughts."""
        return self.tokens + self.thoughts

    def tpot_ns(self, tokens: int | None) -> int | None:
        """Return (last text − first text) / (tokens − tokens in the first piece), if defined."""
        if tokens is None or tokens <= self.first or not self.is_spread:
            return None
        return self.span_ns // (tokens - self.first)


@contextmanager
def with_texts(plan: Plan, context: RunContext) -> Iterator[tuple[Plan, Path | None]]:
    """Yield the plan with a file for the texts of streams, which is deleted at the end."""
    if context.tokenizer is None:
        yield plan, None
        return
    texts = context.directory.path / "texts.jsonl"
    try:
        yield replace(plan, texts=str(texts)), texts
    finally:
        texts.unlink(missing_ok=True)


def counted(level: Level, texts: Path, tokenizer: Tokenizer) -> Level:
    """Return the level with its tokens, or with a warning that they cannot be counted."""
    if any(warning.code == "warning.texts_end_early" for warning in level.warnings):
        why = message("warning.texts_not_whole", "the file of texts is not whole")
        return _warned(level, why)
    try:
        return with_tokens(level, texts, tokenizer)
    except Exception as error:  # the level stays whatever a library raises
        return _warned(level, str(error))


def _warned(level: Level, why: str) -> Level:
    text = message("warning.tokens_not_counted", "tokens were not counted: {why}", why=why)
    return msgspec.structs.replace(level, warnings=[*level.warnings, text])


def with_tokens(level: Level, texts: Path, tokenizer: Tokenizer) -> Level:
    """Return the level and its requests with `stream.tokenizer`.

    `stream.tpot_ms` takes the tokens of first pieces into account if they are known of all streams.
    """
    by_name: dict[str, _TokenSums] = defaultdict(_TokenSums)
    whole = _TokenSums()
    for stream in _counted(texts, tokenizer):
        by_name[stream.name].add(stream)
        whole.add(stream)
    requests = [_with(x, by_name[x.name], tokenizer.name, level.seconds) for x in level.requests]
    level = _with(level, whole, tokenizer.name, level.seconds)
    return msgspec.structs.replace(level, requests=requests)


class _TokenSums:
    """What is known of the tokens of many streams, in 16 bytes a stream."""

    def __init__(self) -> None:
        # Times for each token: by the tokenizer's tokens, and by the server's.
        self.own_tpot_ns = array("Q")
        self.server_tpot_ns = array("Q")
        self.tokens = self.thoughts = self.inside = self.uncounted = 0
        # Of the streams whose tokens the server has counted, too.
        self._is_compared = False
        self._own = self._server = 0
        self._is_partial = False

    def add(self, stream: _StreamTokens) -> None:
        """Add a stream: those of the window, and the tokens of those that ended in it."""
        if stream.is_inside and not stream.is_cut:
            self.inside += stream.all_tokens
        if not stream.is_measured:
            return
        if stream.is_cut:
            self.uncounted += 1
            # It has a time by the server's tokens, and its first piece is not known.
            self._is_partial |= stream.is_spread and stream.server is not None
            return
        self.tokens += stream.all_tokens
        self.thoughts += stream.thoughts
        self.own_tpot_ns.extend(_known(stream.tpot_ns(stream.all_tokens)))
        self.server_tpot_ns.extend(_known(stream.tpot_ns(stream.server)))
        if stream.server is not None:
            self._is_compared = True
            self._own += stream.all_tokens
            self._server += stream.server

    @property
    def agrees(self) -> bool:
        """Whether the counts are close to those of the server, as for the same tokenizer."""
        difference = abs(self._own - self._server)
        is_close = self._is_compared and difference <= _TOLERANCE * self._server
        return is_close and not self._is_partial


def _known(value: int | None) -> tuple[int, ...]:
    return () if value is None else (value,)


def _with(part: Part, sums: _TokenSums, file: str, seconds: float) -> Part:
    stream = part.stream
    if stream is None:
        return part
    tpot, _ = engine.statistics(sums.own_tpot_ns)
    tokenizer = TokenizerCounts(
        file=file,
        tokens_out=sums.tokens,
        tokens_reasoning=sums.thoughts,
        # As for the server's count: of streams that ended in the window.
        tokens_per_s=sums.inside / seconds if seconds else None,
        tpot_ms=tpot,
        uncounted=sums.uncounted,
    )
    stream = msgspec.structs.replace(stream, tokenizer=tokenizer)
    if not sums.agrees:
        return msgspec.structs.replace(part, stream=stream)
    return _with_first_pieces(part, stream, sums.server_tpot_ns)


def _with_first_pieces(part: Part, stream: StreamStatistics, tpot_ns: Sequence[int]) -> Part:
    """Return the part with a TPOT that excludes the tokens of the first piece."""
    tpot, histogram = engine.statistics(tpot_ns)
    stream = msgspec.structs.replace(stream, tpot_ms=tpot, tpot_first="tokenizer")
    if tpot is not None and isinstance(part, Level):
        part = msgspec.structs.replace(part, histograms={**part.histograms, "tpot": histogram})
    return msgspec.structs.replace(part, stream=stream)


def _counted(texts: Path, tokenizer: Tokenizer) -> Iterator[_StreamTokens]:
    with texts.open(encoding="utf-8", errors="replace") as lines:
        batch: list[dict[str, Any]] = []
        for line in lines:
            batch.append(json.loads(line))
            if len(batch) == _BATCH:
                yield from _of_batch(batch, tokenizer)
                batch = []
        yield from _of_batch(batch, tokenizer)


def _of_batch(batch: Sequence[dict[str, Any]], tokenizer: Tokenizer) -> Iterator[_StreamTokens]:
    counts = (
        tokenizer.count([_readable(line[key]) for line in batch])
        for key in ("text", "thought", "first")
    )
    for line, tokens, thoughts, first in zip(batch, *counts, strict=True):
        yield _StreamTokens(
            name=line["name"],
            tokens=tokens,
            thoughts=thoughts,
            first=first,
            server=line["tokens"],
            span_ns=line["span_ns"],
            is_spread=line["is_spread"],
            is_measured=line["is_measured"],
            is_inside=line["is_inside"],
            is_cut=line["is_cut"],
        )


def _readable(text: str) -> str:
    """Return the text without lone surrogates, with which a first piece may end."""
    return text.encode(errors="replace").decode()
