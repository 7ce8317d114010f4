"""Measure one level: start the load, save every interval immediately, save the level.

All experiments use it. An interval that cannot be saved ends the load, which would have no result.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from torr import engine
from torr.experiments.abort import AbortCounter
from torr.experiments.background import in_calling_thread
from torr.experiments.backlog import Backlog, falls_behind
from torr.experiments.context import MeasuredLevel, RunContext, Step
from torr.experiments.lengths import with_length_check
from torr.experiments.level_monitor import monitored
from torr.experiments.planned_lengths import with_output_lengths, with_prompt_lengths
from torr.experiments.prompts import (
    after_prompts,
    prompts_sent,
    with_inputs,
    with_prompts,
)
from torr.experiments.tokens import counted, with_texts
from torr.experiments.trace_use import with_trace
from torr.model.plan import Duration
from torr.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.engine import Load
    from torr.experiments.level_monitor import LevelMonitor
    from torr.model.plan import Plan
    from torr.results.level import Level


def measure(step: Step, context: RunContext) -> MeasuredLevel:
    """Measure and save one level; raise OutputError if it cannot be saved."""
    sent_before = step.prompts_before
    if sent_before is None:
        sent_before = prompts_sent(context.directory.levels)
    abort, backlog = AbortCounter(context.abort_on), Backlog()
    # In a comparison the plan has the texts of its round, which are the same for all candidates.
    number = step.index if step.prompts_before is None else 0
    with with_texts(after_prompts(step.plan, sent_before, number), context) as (plan, texts):
        with monitored(context, plan) as monitor:
            load = context.start(plan)
            rates = _run(load, step, context, abort, (monitor, backlog))
            level = _labelled(engine.level(load), replace(step, plan=plan), sent_before)
            if plan.has_schedule:
                behind = falls_behind(level, step.plan, backlog)
                level = msgspec.structs.replace(level, falls_behind=behind)
            if step.is_saved:
                level = context.directory.keep_level(level)
            # After the level is saved, since the monitor may wait for other machines.
            level, measured = monitor.with_monitor(level), level
        if not step.is_saved:
            return MeasuredLevel(level)
        if level is not measured:
            level = context.directory.replace_level(level)
        if texts is not None and context.tokenizer is not None:
            level = context.directory.replace_level(counted(level, texts, context.tokenizer))
    context.listener.level_ended(step, level)
    return MeasuredLevel(level, tuple(rates), abort.judge_level(level))


def _run(
    load: Load,
    step: Step,
    context: RunContext,
    abort: AbortCounter,
    watching: Sequence[LevelMonitor | Backlog],
) -> list[float]:
    """Run a load to its end, or to an interrupt; return the ok/s of its intervals."""
    with context.interrupt.ending(load):
        context.listener.level_started(step)
        # A load without a schedule has no scheduling lag that a reader could cause.
        follow = context.follow if step.plan.has_schedule else in_calling_thread
        return follow(lambda: _read_intervals(load, step, context, abort, watching), load.abort)


def _read_intervals(
    load: Load,
    step: Step,
    context: RunContext,
    abort: AbortCounter,
    watching: Sequence[LevelMonitor | Backlog],
) -> list[float]:
    """Save the intervals and return their ok/s; stop the load on an abort condition."""
    rates = []
    stopping = False
    for piece in engine.intervals(load):
        for watcher in watching:
            watcher.interval_came(piece)
        place = {"level": step.index, "concurrency": step.concurrency, "round": step.round}
        keep = context.directory.keep_interval if step.is_saved else context.directory.outside.part
        context.listener.interval_came(step, keep(msgspec.structs.replace(piece, **place)))
        if piece.phase == "measure" and piece.ok_per_s is not None:
            rates.append(piece.ok_per_s)
        if abort.judge_interval(piece) and not stopping:
            stopping = True
            load.stop()
    return rates


def _labelled(level: Level, step: Step, prompts_before: int) -> Level:
    """Return the level with its place in the experiment."""
    labelled = msgspec.structs.replace(
        level,
        candidate=step.candidate,
        factors=step.factors,
        round=step.round,
        place=step.place,
        cut_short=_is_cut_short(level, step.plan),
    )
    labelled = with_inputs(with_prompts(labelled, step.plan, prompts_before), step.plan)
    labelled = with_trace(with_length_check(labelled, step.plan), step.plan)
    return with_output_lengths(with_prompt_lengths(labelled, step.plan), step.plan)


def _is_cut_short(level: Level, plan: Plan) -> bool:
    """Return whether the user or an abort condition ended the measurement window."""
    if not level.interrupted:
        return False
    if not isinstance(plan.stop, Duration):
        return True
    return round(level.seconds * SECOND_NS) < plan.stop.duration_ns
