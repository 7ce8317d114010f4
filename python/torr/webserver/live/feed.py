"""Feed the live page: intervals at once, judged results between levels.

Judging is expensive, so it is done after the end of a level, when no load is generated. An error of
the page is reported once and does not affect the run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import msgspec

from torr.experiments.context import ExperimentListener
from torr.experiments.remaining import Remaining
from torr.model.printable import safe_text
from torr.units import SECOND_NS
from torr.webserver.live.page import (
    bare,
    generator_of,
    light,
    pools_of,
    run_of,
    times_planned,
)

if TYPE_CHECKING:
    from torr.experiments.context import Step
    from torr.model.json import JsonObject
    from torr.results.level import Interval, Level
    from torr.results.result import Conclusions, RunResult, TrialFailure
    from torr.webserver.live.journal import Journal
    from torr.webserver.live.metrics import Metrics

Judge = Callable[[Sequence["Level"]], "Conclusions"]
"""Returns the conclusions of levels."""


@dataclass
class Feed(ExperimentListener):
    """A listener that writes to the journal and the metrics.

    `redact` removes secrets from names of candidates and settings. `current_result` returns the
    result with the levels from an index on, `judge` the conclusions of levels. `wake` notifies
    readers, `on_error` gets the first error. Each level is read once, and memory holds the data of
    its intervals that the page shows.
    """

    journal: Journal
    metrics: Metrics
    current_result: Callable[[int], RunResult]
    judge: Judge
    wake: Callable[[], object]
    on_error: Callable[[str], object]
    redact: Callable[[Any], Any]
    remaining: Remaining = field(default_factory=Remaining)
    _has_failed: bool = False
    _levels: list[Level] = field(default_factory=list)
    _pools: list[JsonObject | None] = field(default_factory=list)
    _interval_count: int = 0
    _stream_times: tuple[str, ...] = ()

    def begin(self) -> None:
        """Publish the run before its first level."""
        self._publish(self._publish_result)

    def level_started(self, step: Step) -> None:
        """Publish the progress."""
        step = self._redacted(step)
        self._stream_times = times_planned(step.plan)
        self.remaining.level_started(step)
        self.metrics.level_started(step)
        self._publish(lambda: self._publish_progress(step))

    def interval_came(self, step: Step, piece: Interval) -> None:
        """Publish an interval; one that is not stored is only counted."""
        step = self._redacted(step)
        self.remaining.interval_came(step, piece)
        self.metrics.interval_came(step, piece)
        self._publish(lambda: self._add(step, piece))

    def level_ended(self, step: Step, level: Level) -> None:
        """Publish the result so far."""
        self.metrics.level_ended(self._redacted(step), level)
        self._publish(self._publish_result)

    def trial_failed(self, failure: TrialFailure) -> None:
        """Publish the result so far."""
        self.metrics.trial_failed(failure)
        self._publish(self._publish_result)

    def end(self, result: RunResult) -> None:
        """Publish the final result."""
        self.metrics.is_running = False
        self._has_failed = False  # the file, which may have been full, is not needed
        self._publish(lambda: self.journal.end(_text(run_of(result))))

    def _redacted(self, step: Step) -> Step:
        return replace(
            step, candidate=self.redact(step.candidate), factors=self.redact(step.factors)
        )

    def _add(self, step: Step, piece: Interval) -> None:
        if step.is_saved:
            position = {
                "level": step.index,
                "concurrency": step.concurrency,
                "rate": step.plan.rate_per_s if step.is_of_rates else None,
                "round": step.round,
                "candidate": step.candidate,
                "factors": step.factors,
                "stream_times": self._stream_times,
            }
            self.journal.add(_text({**position, "interval": bare(piece)}))
        self._publish_progress(step, piece)

    def _publish_progress(self, step: Step, piece: Interval | None = None) -> None:
        remaining_s, window_ns = self.remaining.remaining_s, step.plan.window_ns
        progress = {
            "elapsed_s": round(self.remaining.elapsed_s, 3),
            "remaining_s": None if remaining_s is None else round(remaining_s, 3),
            "level": step.index,
            "levels": step.total,
            # The start of the level's time axis, and its end if known.
            "from_s": -step.plan.lead_ns / SECOND_NS,
            "to_s": None if window_ns is None else window_ns / SECOND_NS,
            "is_warmup": self.remaining.phase == "warmup",
            "generator": None if piece is None else generator_of(piece),
        }
        self.journal.set_progress(_text(progress))

    def _publish_result(self) -> None:
        result = self.current_result(len(self._levels))
        for level in result.levels:
            self._interval_count += len(level.intervals)
            self._pools.append(pools_of(level))
            self._levels.append(self._reduced(level))
        result = msgspec.structs.replace(result, levels=self._levels)
        if self._levels:
            conclusions = msgspec.structs.asdict(self.judge(self._levels))
            result = msgspec.structs.replace(result, **conclusions)
        self.journal.begin(_text(run_of(result, self._pools)))

    def _reduced(self, level: Level) -> Level:
        intervals = [light(piece, self._interval_count) for piece in level.intervals]
        return msgspec.structs.replace(level, intervals=intervals)

    def _publish(self, work: Callable[[], object]) -> None:
        """Call `work` and notify the readers; report the first error and stop publishing."""
        if self._has_failed:
            return
        try:
            work()
        except Exception as error:
            self._has_failed = True
            self.on_error(f"the live page is no longer updated: {safe_text(str(error))}")
        self.wake()


def _text(part: Mapping[str, Any]) -> bytes:
    return json.dumps(part, separators=(",", ":"), allow_nan=False).encode()
