"""Count the tokens of a level with a tokenizer, from the texts that the engine writes.

The file of texts is deleted when they are counted.
"""

from __future__ import annotations

import json
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
    by_name: dict[str, list[_StreamTokens]] = defaultdict(list)
    for stream in _counted(texts, tokenizer):
        by_name[stream.name].append(stream)
    streams = [stream for group in by_name.values() for stream in group]
    requests = [_with(x, by_name[x.name], tokenizer.name, level.seconds) for x in level.requests]
    whole = _with(level, streams, tokenizer.name, level.seconds)
    return msgspec.structs.replace(whole, requests=requests)


def _with(part: Part, streams: Sequence[_StreamTokens], file: str, seconds: float) -> Part:
    stream = part.stream
    if stream is None:
        return part
    measured = [x for x in streams if x.is_measured]
    whole = [x for x in measured if not x.is_cut]
    tpot, _ = engine.statistics(_known(x.tpot_ns(x.all_tokens) for x in whole))
    # As for the server's count: of streams that ended in the window.
    inside = sum(x.all_tokens for x in streams if x.is_inside and not x.is_cut)
    tokenizer = TokenizerCounts(
        file=file,
        tokens_out=sum(x.all_tokens for x in whole),
        tokens_reasoning=sum(x.thoughts for x in whole),
        tokens_per_s=inside / seconds if seconds else None,
        tpot_ms=tpot,
        uncounted=len(measured) - len(whole),
    )
    stream = msgspec.structs.replace(stream, tokenizer=tokenizer)
    # Such a stream has a time by the server's tokens, and its first piece is not known.
    is_partial = any(x.is_cut and x.is_spread and x.server is not None for x in measured)
    if is_partial or not _agrees(whole):
        return msgspec.structs.replace(part, stream=stream)
    return _with_first_pieces(part, stream, whole)


def _agrees(streams: Sequence[_StreamTokens]) -> bool:
    """Return whether the counts are close to those of the server, as for the same tokenizer."""
    both = [(x.all_tokens, x.server) for x in streams if x.server is not None]
    ours, servers = sum(own for own, _ in both), sum(server for _, server in both)
    return bool(both) and abs(ours - servers) <= _TOLERANCE * servers


def _with_first_pieces(
    part: Part, stream: StreamStatistics, streams: Sequence[_StreamTokens]
) -> Part:
    """Return the part with a TPOT that excludes the tokens of the first piece."""
    tpot, histogram = engine.statistics(_known(x.tpot_ns(x.server) for x in streams))
    stream = msgspec.structs.replace(stream, tpot_ms=tpot, tpot_first="tokenizer")
    if tpot is not None and isinstance(part, Level):
        part = msgspec.structs.replace(part, histograms={**part.histograms, "tpot": histogram})
    return msgspec.structs.replace(part, stream=stream)


def _known(values: Iterator[int | None]) -> list[int]:
    return [value for value in values if value is not None]


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
