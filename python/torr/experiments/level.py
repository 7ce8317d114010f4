"""One measured level: start the load, keep every interval as it comes, keep the level.

Shared by all experiments. If an interval cannot be kept the load ends at once: load whose results
are lost is only a burden.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from torr import engine
from torr.experiments.abort import AbortCounter
from torr.experiments.background import in_calling_thread
from torr.experiments.context import MeasuredLevel, RunContext, Step
from torr.experiments.level_monitor import monitored
from torr.experiments.prompts import begun_before, behind, with_prompts
from torr.experiments.tokens import counted, with_texts
from torr.model.plan import Duration
from torr.units import SECOND_NS

if TYPE_CHECKING:
    from torr.engine import Load
    from torr.experiments.level_monitor import LevelMonitor
    from torr.model.plan import Plan
    from torr.results.level import Level


def measure(step: Step, context: RunContext) -> MeasuredLevel:
    """Measure one level and keep it; raises OutputError when it cannot be kept."""
    before = begun_before(context.directory.levels)
    watch = AbortCounter(context.abort_on)
    with with_texts(behind(step.plan, before), context) as (plan, texts):
        with monitored(context, plan) as watched:
            load = context.start(plan)
            rates = _fired(load, step, context, watch, watched)
            level = _labelled(engine.level(load), step, before)
            if step.is_kept:
                level = context.directory.keep_level(level)
            # Only now: other machines are asked, and a measured level must not wait for them.
            level, measured = watched.with_monitor(level), level
        if not step.is_kept:
            return MeasuredLevel(level)
        if level is not measured:
            level = context.directory.replace_level(level)
        if texts is not None and context.tokenizer is not None:
            level = context.directory.replace_level(counted(level, texts, context.tokenizer))
    context.listener.level_ended(step, level)
    return MeasuredLevel(level, tuple(rates), watch.judge_level(level))


def _fired(
    load: Load, step: Step, context: RunContext, watch: AbortCounter, watched: LevelMonitor
) -> list[float]:
    """The ok/s of the load's intervals, once it has ended; an interrupt ends it early."""
    context.interrupt.attach(load)
    try:
        context.listener.level_started(step)
        # What users send as fast as they can is not on time or late.
        follow = context.follow if step.plan.has_schedule else in_calling_thread
        return follow(lambda: _follow(load, step, context, watch, watched), load.abort)
    except BaseException:
        load.abort()
        raise
    finally:
        context.interrupt.detach()


def _follow(
    load: Load, step: Step, context: RunContext, watch: AbortCounter, watched: LevelMonitor
) -> list[float]:
    """Keep the intervals; the first abort condition that holds ends the window."""
    rates = []
    stopping = False
    for piece in engine.intervals(load):
        watched.interval_came(piece)
        place = {"level": step.index, "concurrency": step.concurrency, "round": step.round}
        keep = context.directory.keep_interval if step.is_kept else context.directory.outside.part
        context.listener.interval_came(step, keep(msgspec.structs.replace(piece, **place)))
        if piece.phase == "measure" and piece.ok_per_s is not None:
            rates.append(piece.ok_per_s)
        if watch.judge_interval(piece) and not stopping:
            stopping = True
            load.stop()
    return rates


def _labelled(level: Level, step: Step, prompts_before: int) -> Level:
    """The level with what the experiment knows of it."""
    labelled = msgspec.structs.replace(
        level,
        candidate=step.candidate,
        factors=step.factors,
        round=step.round,
        cut_short=_is_cut_short(level, step.plan),
    )
    return with_prompts(labelled, step.plan, prompts_before)


def _is_cut_short(level: Level, plan: Plan) -> bool:
    """Whether the user or an abort condition ended the window; ending the drain cuts nothing."""
    if not level.interrupted:
        return False
    if not isinstance(plan.stop, Duration):
        return True
    return round(level.seconds * SECOND_NS) < plan.stop.duration_ns
