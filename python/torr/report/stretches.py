"""Slices put at their places on an axis of time.

One level starts at its own zero, with the warm-up in front of it; the levels of a ladder stand one
after the other, each under its number of connections.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from torr.report import theme

if TYPE_CHECKING:
    from torr.stats.series import Level


@dataclass(frozen=True)
class Piece:
    """One slice at its place on the axis; `start` and `seconds` in seconds."""

    start: float
    seconds: float
    times: dict[str, Any]
    ok_per_s: float
    errors_per_s: float


@dataclass(frozen=True)
class Stretch:
    """One level's slices; `end` is where its measured window ends."""

    name: str
    start: float
    end: float
    pieces: tuple[Piece, ...]


def stretches_of(levels: Sequence[Level]) -> list[Stretch]:
    """Return the levels in the order of measuring, one behind the other on the axis."""
    made: list[Stretch] = []
    for level in levels:
        start = made[-1].end if made else 0.0
        measured = tuple(_piece(s, start + s["t_s"]) for s in _phase(level, "measure"))
        if measured:
            end = measured[-1].start + measured[-1].seconds
            made.append(Stretch(theme.short(level["concurrency"]), start, end, measured))
    if len(levels) == 1 and made:
        return [_with_surroundings(made[0], levels[0])]
    return made


def _with_surroundings(stretch: Stretch, level: Level) -> Stretch:
    """The one level with its warm-up in front, ending at zero, and its drain behind.

    Slices cut short are left out there: a rate over some milliseconds says nothing.
    """
    warmup = [(s, s.get("seconds") or 1.0) for s in _phase(level, "warmup")]
    begin = -sum(seconds for _, seconds in warmup)
    around = []
    for piece, seconds in warmup:
        around.append(_piece(piece, begin))
        begin += seconds
    around += [_piece(piece, piece["t_s"]) for piece in _phase(level, "drain")]
    least = 0.5 * max(piece.seconds for piece in stretch.pieces)
    pieces = [*stretch.pieces, *(piece for piece in around if piece.seconds >= least)]
    return replace(stretch, pieces=tuple(sorted(pieces, key=lambda piece: piece.start)))


def _phase(level: Level, phase: str) -> list[Level]:
    return [s for s in level.get("slices") or () if s.get("phase", "measure") == phase]


def _piece(piece: Level, start: float) -> Piece:
    seconds = piece.get("seconds") or 1.0
    failed = sum(((piece.get("counts") or {}).get("errors") or {}).values())
    return Piece(
        start=start,
        seconds=seconds,
        times=(piece.get("latency") or {}).get("response_ms") or {},
        ok_per_s=piece.get("ok_per_s") or 0.0,
        errors_per_s=failed / seconds,
    )
