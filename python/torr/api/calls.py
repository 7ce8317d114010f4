"""`torr.run`, `torr.ladder`, `torr.once`, `torr.tune`: the commands as functions.

They measure like the commands and write the same run directory, but print nothing and draw no
report: `Result.report` draws it. The engine runs in its own threads, and the GIL is released while
a call waits for it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torr.api.keywords import docstring, keywords, read, read_keywords, signature
from torr.options.definition import CONNECTION, GRPC, REQUEST
from torr.options.tune import TUNE
from torr.options.verbs import LADDER, RUN

if TYPE_CHECKING:
    from torr.api.answer import Answer
    from torr.api.keywords import Urls
    from torr.api.progress_listener import Progress
    from torr.api.result import Result
    from torr.experiments.background import Follow
    from torr.finishing.pipeline import FinishOptions
    from torr.options.definition import VerbOptions
    from torr.planning.prepared import PreparedRun

REQUEST_GROUPS = (REQUEST, GRPC, CONNECTION)
"""The groups of flags that apply to a single request."""

Call = Callable[..., Any]


def run(url: Urls = (), *, progress: Progress | None = None, **flags: Any) -> Result:  # noqa: ANN401
    """Fire one level of load at `url`, or at several, and return the result."""
    return _measure(RUN, url, progress, flags)


def ladder(url: Urls = (), *, progress: Progress | None = None, **flags: Any) -> Result:  # noqa: ANN401
    """Measure `url` at rising levels; return peak, knee and the capacity under your SLOs."""
    return _measure(LADDER, url, progress, flags)


def once(url: str, **flags: Any) -> Answer:  # noqa: ANN401
    """Send one request to `url` and return the response, with the bytes sent."""
    from torr.api.answer import Answer
    from torr.experiments.once import send_for_answer
    from torr.planning.plan import plan_of

    options, _ = read(RUN, url, flags, REQUEST_GROUPS)
    planned = plan_of(options)
    _warn(planned.notes, stacklevel=3)
    exchange = send_for_answer(planned.plan)
    return Answer.of(exchange, planned.plan.requests[0].grpc)


def tune(
    file: str | os.PathLike[str],
    *,
    progress: Progress | None = None,
    **flags: Any,  # noqa: ANN401
) -> Result:
    """Search the best setting of the server of a tune file, and judge it in fresh rounds."""
    from torr.options.definition import build_options
    from torr.options.tune import TuneOptions
    from torr.planning.matrix import with_file
    from torr.planning.tuning import TunePlan
    from torr.planning.tuning_run import prepare_tuning
    from torr.sources.tune_file import read_tune_file

    values, command = read_keywords(TUNE, flags)
    read_file = read_tune_file(Path(file))
    options = build_options(TuneOptions, values)
    options = with_file(options, read_file.matrix, is_named="name" in values)
    prepared = prepare_tuning(TunePlan.of(read_file, options), [*command, os.fspath(file)])
    _warn(prepared.notes, stacklevel=3)
    return _measured(prepared, options, progress)


def _measure(
    verb: VerbOptions, urls: Urls, progress: Progress | None, arguments: dict[str, Any]
) -> Result:
    """Prepare and measure a load."""
    from torr.planning.prepared import prepare

    options, command = read(verb, urls, arguments)
    prepared = prepare(options, command)
    _warn(prepared.notes, stacklevel=4)
    return _measured(prepared, options.result, progress)


def _measured(prepared: PreparedRun, options: FinishOptions, progress: Progress | None) -> Result:
    """Measure, judge and store; then raise the exception that ended it early, if any."""
    from torr.api.ctrl_c import handle_ctrl_c
    from torr.api.progress_listener import ProgressListener
    from torr.errors import NothingMeasuredError
    from torr.experiments.background import in_background, in_calling_thread
    from torr.experiments.interrupt import Interrupt
    from torr.finishing.no_answer import nothing_measured
    from torr.finishing.pipeline import EndedRun, finish
    from torr.verdicts.exit import log_lost

    interrupt = Interrupt()
    listener = ProgressListener(interrupt, progress)
    # `progress` is called in the thread of the caller.
    follow: Follow = in_background if progress is None else in_calling_thread
    with prepared.open() as directory:
        with handle_ctrl_c(interrupt):
            outcome = prepared.measure(directory, listener, interrupt, follow)
        run = EndedRun.of(prepared, outcome, directory, is_drawn=False)
        finished = finish(run, options, lambda _finished: None)
    lost = log_lost(finished.result)
    _warn((*finished.notes, *([] if lost is None else [lost.message])), stacklevel=5)
    if listener.raised is not None:
        raise listener.raised
    if outcome.interrupted:
        raise KeyboardInterrupt(f"everything measured is stored in {directory.path}")
    if outcome.failure is not None:
        raise nothing_measured(outcome.failure, finished.result, directory.path)
    error = finished.decision.error
    if finished.result.kind == "tune" and isinstance(error, NothingMeasuredError):
        raise error
    from torr.api.result import load

    return load(directory.path)


def _warn(notes: Iterable[str], stacklevel: int) -> None:
    """Warn the caller about parts of files that are not sent."""
    for note in notes:
        warnings.warn(note, RuntimeWarning, stacklevel=stacklevel)


def _explain(call: Call, verb: VerbOptions, groups: tuple[str, ...] | None = None) -> None:
    """Set the signature and the docstring of a function from the flags of its command."""
    known = keywords(verb, groups)
    call.__doc__ = docstring(call, known)
    vars(call)["__signature__"] = signature(call, known)


_explain(run, RUN)
_explain(ladder, LADDER)
_explain(once, RUN, REQUEST_GROUPS)
_explain(tune, TUNE)
