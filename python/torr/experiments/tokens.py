"""Tokens of a level by a tokenizer: read from what the engine kept of its streams.

The texts lie in a file of the run only until they are counted.
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
class _Told:
    """One stream: tokens of its text, of its thoughts and of its first piece; and its times."""

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
        """Of text and thoughts."""
        return self.tokens + self.thoughts

    def tpot_ns(self, tokens: int | None) -> int | None:
        """(last text − first text) / (tokens − tokens in the first piece), where defined."""
        if tokens is None or tokens <= self.first or not self.is_spread:
            return None
        return self.span_ns // (tokens - self.first)


@contextmanager
def with_texts(plan: Plan, context: RunContext) -> Iterator[tuple[Plan, Path | None]]:
    """The plan with a file for what streams tell, where that is counted; at the end it goes."""
    if context.tokenizer is None:
        yield plan, None
        return
    texts = context.directory.path / "texts.jsonl"
    try:
        yield replace(plan, texts=str(texts)), texts
    finally:
        texts.unlink(missing_ok=True)


def counted(level: Level, texts: Path, tokenizer: Tokenizer) -> Level:
    """The level with its tokens; where they cannot be counted, a warning says why."""
    if any(warning.code == "warning.texts_end_early" for warning in level.warnings):
        why = message("warning.texts_not_whole", "the file of texts is not whole")
        return _warned(level, why)
    try:
        return with_tokens(level, texts, tokenizer)
    except Exception as error:  # Whatever a library raises costs no measured level.
        return _warned(level, str(error))


def _warned(level: Level, why: str) -> Level:
    text = message("warning.tokens_not_counted", "tokens were not counted: {why}", why=why)
    return msgspec.structs.replace(level, warnings=[*level.warnings, text])


def with_tokens(level: Level, texts: Path, tokenizer: Tokenizer) -> Level:
    """The level with `stream.tokenizer`, and with the tokens of first pieces in `stream.tpot_ms`.

    The same for each of its steps.
    """
    told: dict[str, list[_Told]] = defaultdict(list)
    for each in _counted(texts, tokenizer):
        told[each.name].append(each)
    everything = [each for some in told.values() for each in some]
    steps = [_with(step, told[step.name], tokenizer.name, level.seconds) for step in level.requests]
    whole = _with(level, everything, tokenizer.name, level.seconds)
    return msgspec.structs.replace(whole, requests=steps)


def _with(part: Part, told: Sequence[_Told], file: str, seconds: float) -> Part:
    stream = part.stream
    if stream is None:
        return part
    measured = [each for each in told if each.is_measured]
    whole = [each for each in measured if not each.is_cut]
    own, _ = engine.statistics(_known(each.tpot_ns(each.all_tokens) for each in whole))
    # As of the server's count: of what ended in the window, whenever it began.
    inside = sum(each.all_tokens for each in told if each.is_inside and not each.is_cut)
    tokenizer = TokenizerCounts(
        file=file,
        tokens_out=sum(each.all_tokens for each in whole),
        tokens_reasoning=sum(each.thoughts for each in whole),
        tokens_per_s=inside / seconds if seconds else None,
        tpot_ms=own,
        uncounted=len(measured) - len(whole),
    )
    stream = msgspec.structs.replace(stream, tokenizer=tokenizer)
    if not _agrees(whole):
        return msgspec.structs.replace(part, stream=stream)
    return _with_first_pieces(part, stream, whole)


def _agrees(told: Sequence[_Told]) -> bool:
    """Whether it counts about as the server does: else it is not the tokenizer of this model."""
    both = [(each.all_tokens, each.server) for each in told if each.server is not None]
    ours, servers = sum(own for own, _ in both), sum(server for _, server in both)
    return abs(ours - servers) <= _TOLERANCE * servers


def _with_first_pieces(part: Part, stream: StreamStatistics, told: Sequence[_Told]) -> Part:
    """The part whose tpot leaves out as many tokens as the first piece has."""
    tpot, histogram = engine.statistics(_known(each.tpot_ns(each.server) for each in told))
    stream = msgspec.structs.replace(stream, tpot_ms=tpot, tpot_first="tokenizer")
    if tpot is not None and isinstance(part, Level):
        part = msgspec.structs.replace(part, histograms={**part.histograms, "tpot": histogram})
    return msgspec.structs.replace(part, stream=stream)


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
            is_measured=line["is_measured"],
            is_inside=line["is_inside"],
            is_cut=line["is_cut"],
        )


def _readable(text: str) -> str:
    """The text without halves of characters, which a first piece may end with."""
    return text.encode(errors="replace").decode()
