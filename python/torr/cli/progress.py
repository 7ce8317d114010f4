"""Progress in the terminal: one line that changes, and a row for each level of a ladder.

The line has a bar, the remaining time and the newest numbers. It goes to stderr if that is a
terminal and the load takes more than 2 s. Rows are part of the result and go to stdout, except
with `-o json` and `--quiet`.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

import click

from torr import units
from torr.experiments.context import ExperimentListener
from torr.experiments.remaining import Remaining
from torr.stats.series import starved_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torr.experiments.context import Step
    from torr.options.compare import CompareOptions
    from torr.options.result import ResultOptions
    from torr.results.level import Interval, Level
    from torr.results.result import TrialFailure

SHORTEST_S = 2.0
CLEAR = "\r\x1b[K"
BAR = 12
# The elapsed and the remaining part; the second pair is for encodings without the first.
SIGNS = (("━", "─"), ("#", "-"))
# One column less than the narrowest usual terminal: a line that is full would wrap.
USUAL_WIDTH = 79
HEADER_OF_TRIALS = f"{'candidate':<30} {'round':>5} {'ok/s':>9} {'p99':>9} {'success':>8}  health"
HEADER = f"{'users':>6} {'ok/s':>10} {'mean':>10} {'p95':>10} {'success':>9}  health"


@dataclass
class Progress(ExperimentListener):
    """Draws the line and the rows on streams; a stream that is None gets nothing."""

    line: TextIO | None
    rows: TextIO | None
    clock: Callable[[], float] = time.monotonic
    _remaining: Remaining = field(init=False)
    _last: str = ""
    _header_is_due: bool = True
    _errors: int = field(default=0)
    _setting: str = ""

    def __post_init__(self) -> None:
        """Share the clock with the estimate of the remaining time."""
        self._remaining = Remaining(self.clock)

    def level_started(self, step: Step) -> None:
        """Start the clock of a level."""
        self._remaining.level_started(step)
        self._errors = 0
        self._draw(step, None)

    def interval_came(self, step: Step, piece: Interval) -> None:
        """Update the line."""
        self._remaining.interval_came(step, piece)
        self._errors += piece.counts.failed
        self._draw(step, piece)

    def level_ended(self, step: Step, level: Level) -> None:
        """Write the row of a ladder's level."""
        self.clear()
        if self.rows is None or step.total == 1:
            return
        if step.candidate is not None:
            self._write_trial(level, row_of_trial(level))
        else:
            self._write(row(level), HEADER)

    def trial_failed(self, failure: TrialFailure) -> None:
        """Write the row of a trial that failed."""
        self.clear()
        if self.rows is not None:
            text = f"{failure.candidate:<30} {failure.round:>5} {failure.text}"
            self._write_trial(failure, text)

    def _write_trial(self, trial: Level | TrialFailure, text: str) -> None:
        """Write the row of a trial; that of a new cell follows its setting."""
        setting = units.show_setting(trial.factors)
        if setting != self._setting:
            self._setting = setting
            self._write(f"\n{setting}", HEADER_OF_TRIALS)
        self._write(text, HEADER_OF_TRIALS)

    def _write(self, text: str, header: str) -> None:
        """Write a row; the first one follows the header."""
        if self._header_is_due:
            self._header_is_due = False
            click.echo(header, file=self.rows)
        click.echo(text, file=self.rows)
        if self.rows is not None:
            self.rows.flush()

    def clear(self) -> None:
        """Clear the line."""
        if self.line is not None and self._last:
            self.line.write(CLEAR)
            self.line.flush()
            self._last = ""

    def _draw(self, step: Step, piece: Interval | None) -> None:
        seconds = step.plan.seconds
        if self.line is None or (seconds is not None and seconds <= SHORTEST_S):
            return
        words = _words(step, piece, self._remaining, self._errors)
        self._last = "  ".join(
            word for word in (_bar(self._remaining.share, self.line), *words) if word
        )
        self.line.write(CLEAR + self._last[: _width(self.line)])
        self.line.flush()


@contextmanager
def progress_for(options: ResultOptions | CompareOptions) -> Iterator[Progress]:
    """Yield the progress that the options select; clear its line at the end."""
    hides_rows = options.quiet or options.output == "json"
    progress = Progress(
        line=sys.stderr if _can_move(sys.stderr) and not options.quiet else None,
        rows=None if hides_rows else sys.stdout,
    )
    try:
        yield progress
    finally:
        progress.clear()


def _can_move(stream: TextIO) -> bool:
    """Return whether a line on the stream can be cleared."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def row(level: Level) -> str:
    """Return the row of a level."""
    mean, p95 = level.latency.service.mean, level.latency.response.p95
    health = level.health
    # The reason is written where it differs between levels.
    is_limited = health.verdict == "generator-limited"
    reason = f": {health.reasons[0]}" if is_limited and health.reasons else ""
    text = (
        f"{level.concurrency:>6} {units.show_rate(level.ok_per_s):>10}"
        f" {units.show_ms(mean):>10} {units.show_ms(p95):>10}"
        f" {units.show_percent(level.success_rate):>9}  {health.verdict}{reason}"
    )
    if level.cut_short:
        text += ", cut short"
    if level.is_starved:
        text += f", {starved_text(level)}"
    return text if level.failure is None else f"{text}  {level.failure}"


def row_of_trial(level: Level) -> str:
    """Return the row of a trial."""
    p99 = level.latency.response.p99
    return (
        f"{level.candidate:<30} {level.round:>5} {units.show_rate(level.ok_per_s):>9}"
        f" {units.show_ms(p99):>9} {units.show_percent(level.success_rate):>8}"
        f"  {level.health.verdict}"
    )


def _words(step: Step, piece: Interval | None, remaining: Remaining, errors: int) -> list[str]:
    """Return the parts of the line, the most important first: a narrow terminal cuts the rest."""
    words = [_remaining_time(step, remaining)]
    if piece is not None:
        if piece.phase != "drain":
            words += [f"{units.show_rate(piece.ok_per_s)} ok/s", _percentile(piece)]
        words += [units.show_count(errors, "error")]
    return [*words, _place_of(step)]


def _bar(share: float | None, line: TextIO) -> str:
    """Return a bar in characters that the stream can encode; empty if the share is unknown."""
    if share is None:
        return ""
    encodable = (pair for pair in SIGNS if _can_show("".join(pair), line))
    elapsed, remaining = next(encodable, SIGNS[-1])
    full = round(BAR * min(1.0, share))
    return elapsed * full + remaining * (BAR - full)


def _can_show(signs: str, line: TextIO) -> bool:
    try:
        signs.encode(line.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _width(line: TextIO) -> int:
    """Return the number of columns that a line may fill."""
    try:
        columns = os.get_terminal_size(line.fileno()).columns
    except OSError:
        return USUAL_WIDTH
    # A terminal of unknown size reports 0.
    return columns - 1 if columns > 1 else USUAL_WIDTH


def _percentile(piece: Interval) -> str:
    """Return the highest percentile up to p99 for which the interval has enough answers."""
    stats = piece.latency.response
    known = (name for name in ("p99", "p95", "p90", "p50") if stats.value(name) is not None)
    name = next(known, None)
    return "" if name is None else f"{name} {units.show_ms(stats.value(name))}"


def _place_of(step: Step) -> str:
    if step.candidate is not None:
        which = f"round {step.round}" if step.is_saved else "not counted"
        return f"trial {step.index + 1} of {step.total}, {step.candidate}, {which}"
    level = units.show_connections(step.concurrency)
    if step.plan.connections < step.concurrency:
        level = units.show_count(step.concurrency, "user")
    if step.total == 1:
        return level
    number = f"level {step.index + 1}" + (f" of {step.total}" if step.total else "")
    return f"{number}, {level}"


def _remaining_time(step: Step, remaining: Remaining) -> str:
    """Return the phase and the remaining time."""
    if remaining.phase == "drain":
        return "waiting for open requests"
    before = "warm-up, " if remaining.phase == "warmup" else ""
    remaining_s = remaining.remaining_s
    if remaining_s is None:
        return f"{before}{remaining.level_elapsed_s:.0f} s"
    return f"{before}{_clock(remaining_s)} left" + ("" if step.total else " of this level")


def _clock(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole} s" if whole < 100 else f"{whole // 60}:{whole % 60:02d}"
