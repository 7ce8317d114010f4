"""The live view of a load in a terminal: time left, throughput, latency, errors, load generator.

A ladder has a chart of its finished levels, too. The view is drawn by rich, at most four times per
second, in the place of the line of `progress.py`.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from torr import units
from torr.cli.progress import Progress, can_show, place_text, progress_bar, remaining_text
from torr.messages.catalogue import ENGLISH
from torr.messages.counts import counted
from torr.messages.say import chain, padded, render, say, width_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO

    from rich.live import Live

    from torr.experiments.context import Step
    from torr.options.result import ResultOptions
    from torr.options.server_trials import ServerTrialOptions
    from torr.results.level import Interval, Level

LEAST_COLUMNS, LEAST_ROWS = 60, 12
_BLOCKS = ("▁▂▃▄▅▆▇█", ".:-=+*#@")  # the second for encodings without the first
_LABEL, _VALUE, _CHART = 12, 30, 32  # cells of the terminal
_REFRESH_S = 0.25
_MOST_REASONS = 2


@dataclass
class LiveView(Progress):
    """Draws a view of several lines on `line`, which must be a terminal."""

    _live: Live | None = None
    _drawn_s: float = float("-inf")
    _rates: list[float] = field(default_factory=list)
    _reasons: dict[str, int] = field(default_factory=dict)
    _attempts: int = 0
    _percentiles: str = ""
    _levels: list[float] = field(default_factory=list)

    def level_started(self, step: Step) -> None:
        """Start the view of a level."""
        self._rates, self._reasons, self._attempts, self._percentiles = [], {}, 0, ""
        super().level_started(step)

    def interval_came(self, step: Step, piece: Interval) -> None:
        """Update the view."""
        if piece.ok_per_s is not None and piece.phase != "drain":
            self._rates.append(piece.ok_per_s)
        self._attempts += piece.counts.attempted
        # An interval with few responses has no percentiles; those of an earlier one stay.
        self._percentiles = _percentiles(piece) or self._percentiles
        for reason, count in piece.reasons.items():
            self._reasons[reason] = self._reasons.get(reason, 0) + count
        super().interval_came(step, piece)

    def level_ended(self, step: Step, level: Level) -> None:
        """Add the level to the chart of a ladder, and write its row."""
        if step.candidate is None and step.is_saved:
            self._levels.append(level.ok_per_s)
        super().level_ended(step, level)

    def clear(self) -> None:
        """Clear the view."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _draw(self, step: Step, piece: Interval | None) -> None:
        if self.line is None or self.is_short(step):
            return
        now_s = self.clock()
        if self._live is not None and now_s < self._drawn_s + _REFRESH_S:
            return
        self._drawn_s = now_s
        from rich.text import Text

        lines = [Text(line, no_wrap=True, overflow="crop") for line in self.lines(step, piece)]
        live = self._started(self.line)
        live.update(Text("\n").join(lines), refresh=True)

    def _started(self, stream: TextIO) -> Live:
        if self._live is None:
            from rich.console import Console
            from rich.live import Live

            console = Console(file=stream, highlight=False)
            self._live = Live(console=console, auto_refresh=False, transient=True)
            self._live.start()
        return self._live

    def lines(self, step: Step, piece: Interval | None) -> list[str]:
        """Return the lines of the view in the language of the command."""
        stream = self.line or sys.stderr
        head = (
            progress_bar(self._remaining.share, stream),
            remaining_text(step, self._remaining),
            place_text(step),
        )
        lines = ["  ".join(render(word, self.language) for word in head if word)]
        if piece is None:
            return lines
        blocks = next((text for text in _BLOCKS if can_show(text, stream)), _BLOCKS[-1])
        rate = say("{rate} ok/s", rate=units.show_rate(piece.ok_per_s))
        lines += [
            self._pair(say("throughput"), rate, chart(self._rates, _CHART, blocks)),
            self._pair(say("latency"), self._percentiles),
            self._pair(say("errors"), self._errors_text()),
            self._pair(say("generator"), _generator(piece)),
        ]
        if step.total != 1 and self._levels:
            done = counted(len(self._levels), "level")
            lines.append(self._pair(say("levels"), done, chart(self._levels, _CHART, blocks)))
        return lines

    def _pair(self, label: str, value: str, drawn: str = "") -> str:
        cells = padded(render(label, self.language), _LABEL)
        text = render(value, self.language)
        return f"{cells}{padded(text, max(_VALUE, width_of(text)))}{drawn}".rstrip()

    def _errors_text(self) -> str:
        if not self._errors:
            return counted(0, "error")
        share = units.show_percent(100.0 * self._errors / max(1, self._attempts))
        most = sorted(self._reasons.items(), key=lambda pair: -pair[1])[:_MOST_REASONS]
        reasons = [chain(" ", [name, f"{count:,}"]) for name, count in most]
        return chain(
            ": ", [chain(" ", [counted(self._errors, "error"), f"({share})"]), chain(", ", reasons)]
        )


@contextmanager
def progress_for(options: ResultOptions | ServerTrialOptions) -> Iterator[Progress]:
    """Yield the progress that the options select; clear its line at the end."""
    hides_rows = options.quiet or options.output == "json"
    line = sys.stderr if _can_move(sys.stderr) and not options.quiet else None
    kind = LiveView if line is not None and _fits(line) else Progress
    progress = kind(
        line=line,
        rows=None if hides_rows else sys.stdout,
        language=options.language or ENGLISH,
    )
    try:
        yield progress
    finally:
        progress.clear()


def _can_move(stream: TextIO) -> bool:
    """Return whether a line on the stream can be cleared."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def chart(values: Sequence[float], width: int, blocks: str) -> str:
    """Return blocks whose heights are values, or means of several, from 0 to the maximum."""
    if not values:
        return ""
    count = min(width, len(values))
    edges = [index * len(values) // count for index in range(count + 1)]
    means = [sum(values[start:end]) / (end - start) for start, end in pairwise(edges)]
    top = max(means)
    if top <= 0:
        return blocks[0] * count
    return "".join(blocks[min(len(blocks) - 1, int(mean / top * len(blocks)))] for mean in means)


def _fits(stream: TextIO) -> bool:
    """Return whether a terminal is large enough for the view."""
    try:
        size = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return False
    columns, rows = size if size.columns else shutil.get_terminal_size((0, 0))
    return columns >= LEAST_COLUMNS and rows >= LEAST_ROWS


def _percentiles(piece: Interval) -> str:
    stats = piece.latency.response
    values = [(name, stats.value(name)) for name in ("p50", "p95", "p99")]
    return chain(
        "  ", [f"{name} {units.show_ms(value)}" for name, value in values if value is not None]
    )


def _generator(piece: Interval) -> str:
    health = piece.health
    rates = [rate for rate in health.worker_cpu_rate if rate is not None] if health else []
    if not rates:
        return ""
    return say("busiest worker {rate} of a core", rate=units.show_percent(max(rates)))
