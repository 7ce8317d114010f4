"""The load of a trace: its pace, its requests, and the feed of its rows.

A trace is sent at its times, or by users who play one session after another (`-c`). It is read
while the load runs, since it may be larger than the memory.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.model.check import Capture
from torr.model.feed import Remember, RowFeed
from torr.model.pace import Fed
from torr.model.plan import Duration, LastRow
from torr.options.definition import refuse
from torr.planning.apis.servers import OUTPUT_PLACE
from torr.planning.apis.trace_parts import IDS
from torr.planning.pace import DEFAULT_USERS, Timing, refuse_warmup
from torr.planning.prompt_seed import seed_of_level, seed_of_round
from torr.planning.prompt_text.prompt_text import ID_SEPARATOR, PromptText
from torr.planning.trace_content import CountedTrace, require_row
from torr.planning.trace_feed import OUTPUT_COLUMN, FeedWriter
from torr.planning.trace_turns import turn_names
from torr.sources.traces.formats import FORMATS, detect_format, named_format
from torr.sources.traces.interleaved import interleaved
from torr.sources.traces.reader import bytes_of, read_trace, refuse_pipe
from torr.sources.traces.sessions import paused_from_openings
from torr.sources.traces.synthesis import (
    Synthesis,
    read_synthesis,
    scaled,
    shared_beginnings,
    with_output,
)
from torr.sources.traces.trace_format import ReadOptions
from torr.sources.traces.window import TraceWindow, windowed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.model.feed import FeedLevel, FeedRow
    from torr.model.request import Request
    from torr.options.load import LoadOptions
    from torr.options.measure import MeasureOptions
    from torr.options.trace import TraceOptions
    from torr.planning.apis.api import ModelApi
    from torr.planning.apis.trace_parts import TraceParts
    from torr.planning.prompt_text.calibration import Calibration
    from torr.planning.prompt_text.lengths import Lengths
    from torr.sources.traces.reader import Trace
    from torr.sources.traces.row import TraceCounts, TraceRow
    from torr.sources.traces.trace_format import TraceFormat

DEFAULT_CONNECTIONS = 1000
"""The most connections of a trace that is sent at its times; they are opened as needed."""

# Seeds of rounds and levels have 63 bits, and a mark 32.
_MARK_SHIFT = 31


@dataclass(frozen=True, slots=True)
class TraceInput:
    """The rows of a trace that are sent, which are read anew for each level.

    `outputs` are lengths of outputs where the trace has none, drawn from `seed`.
    """

    path: Path
    format: TraceFormat
    window: TraceWindow
    synthesis: Synthesis | None
    options: ReadOptions
    outputs: Lengths | None = None
    seed: int = 1

    def opened(self, users: int | None) -> tuple[Iterator[TraceRow], TraceCounts]:
        """Return the rows, with the times and lengths to send, and the counts of the others.

        Users, if there are any, play sessions side by side: the first rows are those of all users.
        """
        trace = self._read()
        is_interleaved = users is not None and self.format.clock != "trace"
        window = replace(self.window, most_rows=None) if is_interleaved else self.window
        rows = self._with_outputs(self._scaled(self._windowed(trace, window), window))
        if users is not None and self.format.has_sessions:
            rows = paused_from_openings(rows)
        if users is not None and is_interleaved:
            rows = islice(interleaved(rows, users), self.window.most_rows)
        return rows, trace.counts

    def require_rows(self) -> None:
        """Refuse a part of a trace that has no row, before anything is sent."""
        window = self.window
        if self.path.is_file() and (window.from_ns or window.to_ns is not None):
            trace = self._read()
            first = next(iter(self._windowed(trace, window)), None)
            trace.close()
            require_row(self.path, is_there=first is not None)

    def origin(self, seed: int) -> Iterator[bytes]:
        """Yield what decides which rows are sent and which texts, and the content of the trace."""
        decisive = (self.window, self.synthesis, self.options, self.outputs)
        yield repr((self.format.name, *decisive, seed)).encode()
        yield from bytes_of(self.path)

    def _scaled(self, rows: Iterator[TraceRow], window: TraceWindow) -> Iterator[TraceRow]:
        synthesis = self.synthesis
        if synthesis is None:
            return rows
        if not synthesis.changes_prompts:
            return (with_output(row, synthesis, self.path) for row in rows)
        # Only all rows show which beginnings are shared.
        shared = shared_beginnings(self._windowed(self._read(), window))
        return (scaled(row, synthesis, shared, self.path) for row in rows)

    def _with_outputs(self, rows: Iterator[TraceRow]) -> Iterator[TraceRow]:
        lengths = self.outputs
        if lengths is None:
            return rows
        draw = random.Random(f"{self.seed} output")  # noqa: S311 - no secret
        return (structs.replace(row, output_tokens=lengths.draw(draw)) for row in rows)

    def _read(self) -> Trace:
        return read_trace(self.path, self.format.name, self.options)

    def _windowed(self, trace: Trace, window: TraceWindow) -> Iterator[TraceRow]:
        return windowed(trace, window, self.format.clock)


def trace_input(trace: TraceOptions, load: LoadOptions, file: str) -> TraceInput:
    """Return which rows of a trace are sent; raise UsageError that names the flag."""
    path, form = Path(file), _format_of(trace, Path(file))
    require(
        form.has_blocks or trace.block_tokens is None,
        say("--block-tokens does not fit {format}, which has no blocks", format=form.title),
        say("leave it out"),
    )
    synthesis = None if trace.synthesis is None else read_synthesis(trace.synthesis)
    _refuse_without_effect(trace, load, form, synthesis)
    window = TraceWindow(
        from_ns=trace.trace_from_ns or 0,
        to_ns=_end_of(trace, load, form),
        time_scale=load.speed or 1.0,
        most_rows=load.requests,
    )
    return TraceInput(
        path,
        form,
        window,
        synthesis,
        ReadOptions(trace.block_tokens),
    )


def _refuse_without_effect(
    trace: TraceOptions, load: LoadOptions, form: TraceFormat, synthesis: Synthesis | None
) -> None:
    """Refuse what could change nothing in a trace of this format."""
    begin_ns, end_ns = trace.trace_from_ns, trace.trace_to_ns
    times = {"--trace-from": begin_ns, "--trace-to": end_ns, "--speed": load.speed}
    for flag, value in times.items():
        require(
            form.clock != "none" or value is None,
            say("{flag} does not fit {format}, which has no times", flag=flag, format=form.title),
            say("leave it out"),
        )
    require(
        begin_ns is None or end_ns is None or begin_ns < end_ns,
        say("--trace-to is not after --trace-from"),
    )
    if synthesis is None:
        return
    require(
        not form.has_texts or not synthesis.changes_prompts,
        say(
            "--synthesis: prefix= and input= do not fit {format}, which has texts",
            format=form.title,
        ),
        say("leave them out"),
    )
    require(
        form.has_blocks or synthesis.prefix == 1,
        say("--synthesis: prefix= does not fit {format}, which has no blocks", format=form.title),
        say("leave it out: input= is the length of the whole prompt"),
    )
    require(
        form.clock != "none",
        say("--synthesis does not fit {format}, which has texts", format=form.title),
        say("leave it out"),
    )


def _load_of(options: MeasureOptions) -> LoadOptions:
    """Return the options of the load, with users for a ladder, whose levels are numbers of them."""
    load = options.load
    if options.ladder is None or load.connections is not None:
        return load
    return replace(load, connections=DEFAULT_USERS)


def has_output_lengths(trace: TraceOptions, file: str) -> bool:
    """Return whether a trace says how many tokens outputs have: one of texts alone does not."""
    return _format_of(trace, Path(file)).clock != "none"


def refuse_token_ids(trace: TraceOptions, file: str) -> None:
    """Refuse token ids for a trace that has texts."""
    form = _format_of(trace, Path(file))
    require(
        not form.has_texts,
        say("--token-ids does not fit {format}, which has texts", format=form.title),
        say("leave it out"),
    )


def _format_of(trace: TraceOptions, path: Path) -> TraceFormat:
    name = trace.trace_format
    return FORMATS[detect_format(path)] if name is None else named_format(name)


def trace_timing(options: MeasureOptions, file: str) -> Timing:
    """Return the pace of a trace: its times, or users if -c is given or it has no times."""
    trace, load = options.trace, _load_of(options)
    taken = ("rate_per_s", "arrivals", "stages", "replay", "pool", "think")
    refuse(load, *taken, what="--trace")
    refuse_warmup(load, "--trace")
    form = trace_input(trace, load, file).format
    if _is_timed(load, form):
        connections = load.max_in_flight or DEFAULT_CONNECTIONS
        return Timing(Fed(connections, True, load.max_in_flight), LastRow(), 0)
    require(
        load.max_in_flight is None,
        say("--max-in-flight: -c limits the requests in flight already"),
        say("leave it out"),
    )
    stop = LastRow() if load.duration_ns is None else Duration(load.duration_ns)
    return Timing(Fed(load.connections or DEFAULT_USERS, False), stop, 0)


def trace_requests(
    base: Request, api: ModelApi, options: MeasureOptions, file: str, known: Calibration
) -> tuple[tuple[Request, ...], RowFeed]:
    """Return the requests of a trace, one for each row of tables, and its rows.

    `base` is the request of a single prompt.
    """
    trace, load = options.trace, _load_of(options)
    source = _with_outputs(trace_input(trace, load, file), options)
    if options.ladder is not None or (source.synthesis and source.synthesis.changes_prompts):
        refuse_pipe(source.path)
    source.require_rows()
    timing = trace_timing(options, file)
    parts = IDS if options.stream.token_ids else api.trace
    if parts is None:
        raise UsageError(
            say("--trace does not fit --chat {api}", api=api.name),
            say("use openai, anthropic, completions or responses"),
        )
    request = _with_places(base, parts, source.format)
    requests: tuple[Request, ...] = (request,)
    has_turns = source.format.has_sessions
    if has_turns:
        names = turn_names(has_branches=source.format.has_branches)
        requests = tuple(replace(request, name=name) for name in names)
    is_timed = isinstance(timing.pace, Fed) and timing.pace.is_timed
    counted = CountedTrace(source)

    separator = ID_SEPARATOR if options.stream.token_ids else " "

    def rows(level: FeedLevel) -> Iterator[list[FeedRow]]:
        seed = seed_of_level(seed_of_round(load.seed, options.round), level.number)
        text = PromptText(known.words, seed, separator, known.template_tokens)
        # The beginning of texts that the trace has itself: they cannot be others.
        mark = "" if seed == load.seed else f"[{seed >> _MARK_SHIFT:08x}] "
        writer = FeedWriter(parts, text, mark, is_timed=is_timed, has_turns=has_turns)
        return writer.batches(counted.rows(level.users))

    columns = (*parts.columns, OUTPUT_COLUMN)
    origin = partial(source.origin, load.seed)
    return requests, RowFeed(columns, rows, origin, counted.content)


def _with_outputs(source: TraceInput, options: MeasureOptions) -> TraceInput:
    """Return the input with lengths of outputs that differ, if they are given."""
    lengths = options.stream.output_tokens
    if lengths is None or lengths.constant is not None:
        return source
    return replace(source, outputs=lengths, seed=options.load.seed)


def _with_places(base: Request, parts: TraceParts, form: TraceFormat) -> Request:
    """Return the request with the places of a row instead of those of a prompt."""
    body = (base.body or b"").decode()
    body = body.replace(parts.prompt, parts.row, 1)
    body = body.replace(str(OUTPUT_PLACE), f"{{{{row.{OUTPUT_COLUMN}}}}}")
    if form.clock != "none":
        return replace(base, body=body.replace("{{history}}", "").encode())
    # The trace has the texts of users alone: those of the server are live.
    remember = Remember("history", parts.turn)
    captures = (Capture("answer", "text", ""),)
    return replace(base, body=body.encode(), captures=captures, remember=remember)


def _is_timed(load: LoadOptions, form: TraceFormat) -> bool:
    """Return whether rows are sent at their times, not by users."""
    return load.connections is None and form.clock == "trace"


def _end_of(trace: TraceOptions, load: LoadOptions, form: TraceFormat) -> int | None:
    """Return the time of the trace at which it ends: by --trace-to, or by the duration."""
    if load.duration_ns is None or not _is_timed(load, form):
        return trace.trace_to_ns
    end = (trace.trace_from_ns or 0) + round(load.duration_ns * (load.speed or 1.0))
    return end if trace.trace_to_ns is None else min(end, trace.trace_to_ns)
