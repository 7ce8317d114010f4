"""Follows an experiment for the live page: keeps intervals at once, and the rest between levels.

What is dear, judging what there is so far, is done when a level has ended: nothing is fired then.
A page that cannot be fed costs nobody a result: it is said once, and the run goes on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import msgspec

from torr.experiments.context import ExperimentListener
from torr.experiments.remaining import Remaining
from torr.model.outside import safe_text
from torr.units import SECOND_NS
from torr.webserver.live.page import bare, generator_of, light, pools_of, run_of

if TYPE_CHECKING:
    from torr.experiments.context import Step
    from torr.model.json import JsonObject
    from torr.results.level import Interval, Level
    from torr.results.result import Conclusions, RunResult, TrialFailure
    from torr.webserver.live.journal import Journal
    from torr.webserver.live.metrics import Metrics

Judge = Callable[[Sequence["Level"]], "Conclusions"]
"""Returns what is concluded of levels."""


@dataclass
class Feed(ExperimentListener):
    """A listener that writes to the journal and the metrics.

    `fit` redacts names of candidates and settings, as is done for levels. `current_result` returns
    the result with the levels from an index on, `judge` the conclusions of levels. `wake` notifies
    readers, `complain` gets the first error. Each level is read once, and memory holds the data of
    its intervals that the page shows.
    """

    journal: Journal
    metrics: Metrics
    current_result: Callable[[int], RunResult]
    judge: Judge
    wake: Callable[[], object]
    complain: Callable[[str], object]
    fit: Callable[[Any], Any]
    remaining: Remaining = field(default_factory=Remaining)
    _is_broken: bool = False
    _levels: list[Level] = field(default_factory=list)
    _pools: list[JsonObject | None] = field(default_factory=list)
    _interval_count: int = 0

    def begin(self) -> None:
        """Say what is known before any level."""
        self._safely(self._take_stock)

    def level_started(self, step: Step) -> None:
        """Say what is left."""
        step = self._fit(step)
        self.remaining.level_started(step)
        self.metrics.level_started(step)
        self._safely(lambda: self._tell(step))

    def interval_came(self, step: Step, piece: Interval) -> None:
        """Take an interval down; one that is not kept is only in the counters."""
        step = self._fit(step)
        self.remaining.interval_came(step, piece)
        self.metrics.interval_came(step, piece)
        self._safely(lambda: self._add(step, piece))

    def level_ended(self, step: Step, level: Level) -> None:
        """Say what there is so far."""
        self.metrics.level_ended(self._fit(step), level)
        self._safely(self._take_stock)

    def trial_failed(self, failure: TrialFailure) -> None:
        """Say what there is so far."""
        self.metrics.trial_failed(failure)
        self._safely(self._take_stock)

    def end(self, result: RunResult) -> None:
        """Say how it ended; nothing comes after it."""
        self.metrics.is_running = False
        self._is_broken = False  # a file that was full is not needed for this
        self._safely(lambda: self.journal.end(_text(run_of(result))))

    def _fit(self, step: Step) -> Step:
        return replace(step, candidate=self.fit(step.candidate), factors=self.fit(step.factors))

    def _add(self, step: Step, piece: Interval) -> None:
        if step.is_kept:
            place = {
                "level": step.index,
                "concurrency": step.concurrency,
                "round": step.round,
                "candidate": step.candidate,
                "factors": step.factors,
            }
            self.journal.add(_text({**place, "interval": bare(piece)}))
        self._tell(step, piece)

    def _tell(self, step: Step, piece: Interval | None = None) -> None:
        left_s, window_ns = self.remaining.left_s, step.plan.window_ns
        progress = {
            "done_s": round(self.remaining.elapsed_s, 3),
            "left_s": None if left_s is None else round(left_s, 3),
            "level": step.index,
            "levels": step.total,
            # Where the axis of this level begins, and ends where that is known.
            "from_s": -step.plan.lead_ns / SECOND_NS,
            "to_s": None if window_ns is None else window_ns / SECOND_NS,
            "is_warmup": self.remaining.phase == "warmup",
            "generator": None if piece is None else generator_of(piece),
        }
        self.journal.tell(_text(progress))

    def _take_stock(self) -> None:
        result = self.current_result(len(self._levels))
        for level in result.levels:
            self._interval_count += len(level.intervals)
            self._pools.append(pools_of(level))
            self._levels.append(self._light(level))
        result = msgspec.structs.replace(result, levels=self._levels)
        if self._levels:
            conclusions = msgspec.structs.asdict(self.judge(self._levels))
            result = msgspec.structs.replace(result, **conclusions)
        self.journal.begin(_text(run_of(result, self._pools)))

    def _light(self, level: Level) -> Level:
        intervals = [light(piece, self._interval_count) for piece in level.intervals]
        return msgspec.structs.replace(level, intervals=intervals)

    def _safely(self, work: Callable[[], object]) -> None:
        """Do it and tell the readers; what goes wrong must not end the run."""
        if self._is_broken:
            return
        try:
            work()
        except Exception as error:
            self._is_broken = True
            self.complain(f"the live page stands still: {safe_text(str(error))}")
        self.wake()


def _text(part: Mapping[str, Any]) -> bytes:
    return json.dumps(part, separators=(",", ":"), allow_nan=False).encode()
