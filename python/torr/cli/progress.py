"""Progress in the terminal: one line that changes, and a row for each level of a ladder.

The line has a bar, the remaining time and the newest numbers. It goes to stderr if that is a
terminal and the load takes more than 2 s; a terminal that is large enough has `live_view.py` in its
place. Rows are part of the result and go to stdout, except with `-o json` and `--quiet`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

import click
from msgspec import UNSET

from torr import units
from torr.experiments.context import ExperimentListener
from torr.experiments.remaining import Remaining
from torr.messages.catalogue import ENGLISH
from torr.messages.counts import counted
from torr.messages.say import Text, chain, padded, render, say, width_of
from torr.messages.trials import trials_text
from torr.report.data.result_words import word_text
from torr.report.tables.table import bounded, time_cell
from torr.results.position import ARRIVAL
from torr.stats.series import behind_text, starved_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.experiments.context import Step
    from torr.messages.say import Language
    from torr.results.level import Interval, Level
    from torr.results.result import TrialFailure
    from torr.results.tuning import TrialPlace

SHORTEST_S = 2.0
CLEAR = "\r\x1b[K"
BAR = 12
# The elapsed and the remaining part; the second pair is for encodings without the first.
SIGNS = (("━", "─"), ("#", "-"))
# One column less than the narrowest usual terminal: a line that is full would wrap.
USUAL_WIDTH = 79
HEALTH = say("health")
# The columns of rows, each with its width in cells of the terminal, and to the right if negative.
COLUMNS_OF_TRIALS = (
    (say("candidate"), 30),
    (say("round"), -5),
    ("ok/s", -9),
    ("p99", -9),
    (say("success"), -8),
)
COLUMNS_OF_TUNING = (
    (say("trial"), 12),
    ("ok/s", -9),
    ("p95", -9),
    (say("success"), -8),
    ("", 0),
    (HEALTH, 17),
)
COLUMNS = (
    (say("users"), -6),
    ("ok/s", -10),
    (say("mean"), -10),
    ("p95", -10),
    (say("success"), -9),
)
Columns = Sequence[tuple[str, int]]


@dataclass
class Progress(ExperimentListener):
    """Draws the line and the rows on streams; a stream that is None gets nothing."""

    line: TextIO | None
    rows: TextIO | None
    clock: Callable[[], float] = time.monotonic
    language: Language = ENGLISH
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
        if level.place is not UNSET:
            self._write(row_of_tuning(level, level.place), COLUMNS_OF_TUNING, say("setting"))
        elif step.candidate is not None:
            self._write_trial(level, row_of_trial(level))
        else:
            columns = columns_of_levels(step)
            self._write(row(level, columns), columns)

    def trial_failed(self, failure: TrialFailure) -> None:
        """Write the row of a trial that failed."""
        self.clear()
        if failure.place is not UNSET:
            what = chain(": ", [units.show_setting(failure.factors), failure.text])
            place = padded(_place_text(failure.place), COLUMNS_OF_TUNING[0][1])
            self._write(chain(" ", [place, what]), COLUMNS_OF_TUNING, say("setting"))
        elif self.rows is not None:
            number = f"{failure.round:>5}"
            cells = [padded(failure.candidate, 30), number, failure.text]
            self._write_trial(failure, chain(" ", cells))

    def trials_planned(self, least: int, most: int, seconds: float) -> None:
        """Write how many trials are left, and how long they take."""
        self.clear()
        if self.rows is not None:
            plan = trials_text(least, most, seconds)
            click.echo(render(plan, self.language), file=self.rows)
            self.rows.flush()

    def noted(self, note: str) -> None:
        """Write a note."""
        self.clear()
        if self.rows is not None:
            text = say("note: {text}", text=note)
            click.echo(render(text, self.language), file=self.rows)
            self.rows.flush()

    def _write_trial(self, trial: Level | TrialFailure, text: str) -> None:
        """Write the row of a trial; that of a new cell follows its setting."""
        setting = units.show_setting(trial.factors)
        if setting != self._setting:
            self._setting = setting
            self._write(f"\n{setting}", COLUMNS_OF_TRIALS)
        self._write(text, COLUMNS_OF_TRIALS)

    def _write(self, text: str, columns: Columns, last: str = HEALTH) -> None:
        """Write a row; the first one follows the names of the columns and of the last cell."""
        if self.rows is None:
            return
        if self._header_is_due:
            self._header_is_due = False
            header = _in_columns([name for name, _ in columns], columns, last)
            click.echo(render(header, self.language), file=self.rows)
        click.echo(render(text, self.language), file=self.rows)
        self.rows.flush()

    def clear(self) -> None:
        """Clear the line."""
        if self.line is not None and self._last:
            self.line.write(CLEAR)
            self.line.flush()
            self._last = ""

    @staticmethod
    def is_short(step: Step) -> bool:
        """Return whether a level is too short to show its progress."""
        seconds = step.plan.seconds
        return seconds is not None and seconds <= SHORTEST_S

    def _draw(self, step: Step, piece: Interval | None) -> None:
        if self.line is None or self.is_short(step):
            return
        words = _words(step, piece, self._remaining, self._errors)
        self._last = "  ".join(
            render(word, self.language)
            for word in (progress_bar(self._remaining.share, self.line), *words)
            if word
        )
        self.line.write(CLEAR + _cut(self._last, _width(self.line)))
        self.line.flush()


def columns_of_levels(step: Step) -> Columns:
    """Return the columns of a ladder, of which the first one has the position."""
    if step.noun != ARRIVAL:
        return COLUMNS
    return ((say("arrivals/s"), -10), *COLUMNS[1:])


def row(level: Level, columns: Columns = COLUMNS) -> str:
    """Return the row of a level."""
    health = level.health
    # The reason is written where it differs between levels.
    is_limited = health.verdict == "generator-limited"
    reason = health.reasons[0] if is_limited and health.reasons else ""
    numbers = (
        f"{level.position}",
        _rate(level),
        units.show_ms(level.latency.service.mean),
        time_cell(level.latency.response, "p95"),
        units.show_percent(level.success_rate),
    )
    marks = [
        chain(": ", [word_text(health.verdict), reason]),
        say("cut short") if level.cut_short else "",
        starved_text(level) if level.is_starved else "",
        behind_text(level) if level.falls_behind else "",
    ]
    return chain("  ", [_in_columns(numbers, columns, chain(", ", marks)), level.failure or ""])


def row_of_trial(level: Level) -> str:
    """Return the row of a trial."""
    cells = (
        level.candidate or "",
        f"{level.round}",
        _rate(level),
        time_cell(level.latency.response, "p99"),
        units.show_percent(level.success_rate),
    )
    return _in_columns(cells, COLUMNS_OF_TRIALS, word_text(level.health.verdict))


def row_of_tuning(level: Level, place: TrialPlace) -> str:
    """Return the row of a trial of a tuning; settings are long, and come last."""
    cells = (
        _place_text(place),
        _rate(level),
        time_cell(level.latency.response, "p95"),
        units.show_percent(level.success_rate),
        "",
        word_text(level.health.verdict),
    )
    return _in_columns(cells, COLUMNS_OF_TUNING, units.show_setting(level.factors))


def _rate(level: Level) -> str:
    return bounded(units.show_rate(level.ok_per_s), at_least=level.is_contended)


def _place_text(place: TrialPlace) -> Text:
    """Return the place of a trial, such as `search 1.3` or `fresh 12`."""
    if place.phase == "search":
        return say("search {stage}.{n}", stage=place.stage, n=place.round)
    return say("fresh {n}", n=place.round)


def _in_columns(cells: Sequence[str], columns: Columns, last: str) -> Text:
    """Return cells of these widths, and a last one of any width."""

    def write(language: Language) -> str:
        texts = [
            padded(render(cell, language), width)
            for cell, (_, width) in zip(cells, columns, strict=True)
        ]
        return f"{' '.join(texts)}  {render(last, language)}"

    return Text(write)


def _words(step: Step, piece: Interval | None, remaining: Remaining, errors: int) -> list[str]:
    """Return the parts of the line, the most important first: a narrow terminal cuts the rest."""
    words = [remaining_text(step, remaining)]
    if piece is not None:
        if piece.phase != "drain":
            rate = say("{rate} ok/s", rate=units.show_rate(piece.ok_per_s))
            words += [rate, _percentile(piece)]
        words += [counted(errors, "error")]
    return [*words, place_text(step)]


def progress_bar(share: float | None, line: TextIO) -> str:
    """Return a bar in characters that the stream can encode; empty if the share is unknown."""
    if share is None:
        return ""
    encodable = (pair for pair in SIGNS if can_show("".join(pair), line))
    elapsed, remaining = next(encodable, SIGNS[-1])
    full = round(BAR * min(1.0, share))
    return elapsed * full + remaining * (BAR - full)


def can_show(signs: str, line: TextIO) -> bool:
    """Return whether a stream can encode these characters."""
    try:
        signs.encode(line.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _cut(text: str, width: int) -> str:
    """Return the beginning of a text that fills at most so many cells."""
    while width_of(text) > width:
        text = text[:-1]
    return text


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


def place_text(step: Step) -> str:
    """Return the place of a level within the experiment, and its load."""
    if step.place is not UNSET:
        trial = say("trial {n} of at most {total}", n=step.index + 1, total=step.total)
        return chain(", ", [trial, units.show_setting(step.factors)])
    if step.candidate is not None:
        which = say("round {n}", n=step.round) if step.is_saved else say("not counted")
        trial = say("trial {n} of {total}", n=step.index + 1, total=step.total)
        return chain(", ", [trial, step.candidate, which])
    level = counted(step.position, step.noun)
    if step.total == 1:
        return level
    number = say("level {n}", n=step.index + 1)
    if step.total:
        number = say("{level} of {total}", level=number, total=step.total)
    return chain(", ", [number, level])


def remaining_text(step: Step, remaining: Remaining) -> str:
    """Return the phase and the remaining time."""
    if remaining.phase == "drain":
        return say("waiting for the server")
    remaining_s = remaining.remaining_s
    if remaining_s is None:
        time: str = f"{remaining.level_elapsed_s:.0f} s"
    elif step.total:
        time = say("{time} left", time=_clock(remaining_s))
    else:
        time = say("{time} left of this level", time=_clock(remaining_s))
    return chain(", ", [say("warm-up") if remaining.phase == "warmup" else "", time])


def _clock(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole} s" if whole < 100 else f"{whole // 60}:{whole % 60:02d}"
