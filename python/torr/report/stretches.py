"""Slices put at their places on an axis of time.

One level starts at its own zero, with the warm-up in front of it; the levels of a ladder stand one
after the other, each under its number of connections. Where answers are streams, the percentiles
are those of pooled slices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from torr.report import theme
from torr.report.pooled import pooled

if TYPE_CHECKING:
    from torr.stats.series import Level

    Times = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Piece:
    """One slice at its place on the axis; `start` and `seconds` in seconds.

    `times` has the percentiles of each kind of time, in milliseconds.
    """

    start: float
    seconds: float
    times: Times
    ok_per_s: float
    errors_per_s: float
    tokens_per_s: float | None = None

    def time(self, metric: str, stat: str) -> float:
        """Return one number of a kind of time; nan where there is none."""
        value = self.times.get(metric, {}).get(stat)
        return math.nan if value is None else float(value)

    def rate(self, name: str) -> float | None:
        """Return one of its rates by name; None where there is none."""
        value: float | None = getattr(self, name)
        return value


@dataclass(frozen=True)
class Stretch:
    """One level's slices; `end` is where its measured window ends.

    `is_pooled` says that the percentiles are those of pools of slices.
    """

    name: str
    start: float
    end: float
    pieces: tuple[Piece, ...]
    is_pooled: bool = False


def stretches_of(levels: Sequence[Level]) -> list[Stretch]:
    """Return the levels in the order of measuring, one behind the other on the axis."""
    made: list[Stretch] = []
    for level in levels:
        start = made[-1].end if made else 0.0
        measured = tuple(
            _piece(s, start + s["t_s"], times) for s, times in _phase(level, "measure")
        )
        if measured:
            end = measured[-1].start + measured[-1].seconds
            made.append(
                Stretch(
                    theme.short(level["concurrency"]),
                    start,
                    end,
                    measured,
                    bool(level.get("stream")),
                )
            )
    if len(levels) == 1 and made:
        return [_with_surroundings(made[0], levels[0])]
    return made


def _with_surroundings(stretch: Stretch, level: Level) -> Stretch:
    """The one level with its warm-up in front, ending at zero, and its drain behind.

    Slices cut short are left out there: a rate over some milliseconds says nothing.
    """
    warmup = _phase(level, "warmup")
    begin = -sum(_seconds(piece) for piece, _ in warmup)
    around = []
    for piece, times in warmup:
        around.append(_piece(piece, begin, times))
        begin += _seconds(piece)
    around += [_piece(piece, piece["t_s"], times) for piece, times in _phase(level, "drain")]
    least = 0.5 * max(piece.seconds for piece in stretch.pieces)
    pieces = [*stretch.pieces, *(piece for piece in around if piece.seconds >= least)]
    return replace(stretch, pieces=tuple(sorted(pieces, key=lambda piece: piece.start)))


def _phase(level: Level, phase: str) -> list[tuple[Level, Times]]:
    """The slices of one phase, each with its times."""
    slices = [s for s in level.get("slices") or () if s.get("phase", "measure") == phase]
    if not level.get("stream"):
        return [
            (s, {"response": (s.get("latency") or {}).get("response_ms") or {}}) for s in slices
        ]
    kinds = {metric: pooled(slices, metric) for metric in ("ttft", "response")}
    return [(s, {name: kinds[name][at] for name in kinds}) for at, s in enumerate(slices)]


def _piece(piece: Level, start: float, times: Times) -> Piece:
    seconds = _seconds(piece)
    failed = sum(((piece.get("counts") or {}).get("errors") or {}).values())
    return Piece(
        start=start,
        seconds=seconds,
        times=times,
        ok_per_s=piece.get("ok_per_s") or 0.0,
        errors_per_s=failed / seconds,
        tokens_per_s=_token_rate(piece),
    )


def _token_rate(piece: Level) -> float | None:
    """Tokens a second; outside the window, of which a slice says no rate, from their number."""
    stream = piece.get("stream") or {}
    if piece.get("phase", "measure") == "measure":
        rate: float | None = stream.get("tokens_per_s")
        return rate
    tokens = stream.get("tokens_out")
    return None if tokens is None else tokens / _seconds(piece)


def _seconds(piece: Level) -> float:
    return piece.get("seconds") or 1.0
