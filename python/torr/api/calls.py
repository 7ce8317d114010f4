"""`torr.run`, `torr.ladder`, `torr.once`: the commands as functions.

They measure as the commands do and leave the same directory, but print nothing and draw nothing:
the page is drawn when it is asked for. The engine works in threads of its own, and waiting for it
leaves the interpreter to others.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from torr.api.keywords import described, keywords, read, signature
from torr.options.definition import CONNECTION, REQUEST
from torr.options.verbs import LADDER, RUN

if TYPE_CHECKING:
    from torr.api.answer import Answer
    from torr.api.keywords import Urls
    from torr.api.listening import Progress
    from torr.api.result import Result
    from torr.experiments.background import Follow
    from torr.options.verbs import VerbOptions

OF_ONE = (REQUEST, CONNECTION)
"""The groups of flags that matter to a single request."""

Call = Callable[..., Any]


def run(url: Urls = (), *, progress: Progress | None = None, **flags: Any) -> Result:  # noqa: ANN401
    """Fire one level of load at `url`, or at several; what it came to."""
    return _measure(RUN, url, progress, flags)


def ladder(url: Urls = (), *, progress: Progress | None = None, **flags: Any) -> Result:  # noqa: ANN401
    """Find how much `url` can take, level after level: peak, knee, capacity under your SLOs."""
    return _measure(LADDER, url, progress, flags)


def once(url: str, **flags: Any) -> Answer:  # noqa: ANN401
    """Send one request to `url` and keep both sides of it."""
    from torr.api.answer import Answer
    from torr.planning.once import send_for_answer
    from torr.planning.plan import plan_of

    options, _ = read(RUN, url, flags, OF_ONE)
    planned = plan_of(options)
    _warn(planned.notes, stacklevel=3)
    return Answer.of(send_for_answer(planned.plan))


def _measure(
    verb: VerbOptions, urls: Urls, progress: Progress | None, given: dict[str, Any]
) -> Result:
    """Prepare, measure, judge and keep; then raise what ended it early, if anything did."""
    from torr.api.ctrl_c import hearing_ctrl_c
    from torr.api.listening import Listening
    from torr.experiments.background import in_background, in_calling_thread
    from torr.experiments.interrupt import Interrupt
    from torr.finishing.pipeline import EndedRun, finish
    from torr.finishing.unanswered import nothing_measured
    from torr.planning.prepared import prepare

    options, command = read(verb, urls, given)
    prepared = prepare(options, command)
    _warn(prepared.notes, stacklevel=4)
    interrupt = Interrupt()
    listening = Listening(interrupt, progress)
    # A function of the caller is called in the thread of the call.
    follow: Follow = in_background if progress is None else in_calling_thread
    with prepared.open() as directory:
        with hearing_ctrl_c(interrupt):
            outcome = prepared.measure(directory, listening, interrupt, follow)
        run = EndedRun.of(prepared, outcome, directory, is_drawn=False)
        finished = finish(run, options.result, lambda _finished: None)
    _warn(finished.notes, stacklevel=4)
    if listening.raised is not None:
        raise listening.raised
    if outcome.interrupted:
        raise KeyboardInterrupt(f"what was measured is kept in {directory.path}")
    if outcome.failure is not None:
        raise nothing_measured(outcome.failure, finished.result, directory.path)
    from torr.api.result import load

    return load(directory.path)


def _warn(notes: Iterable[str], stacklevel: int) -> None:
    """Warn the caller of what files say that is not sent."""
    for note in notes:
        warnings.warn(note, RuntimeWarning, stacklevel=stacklevel)


def _explain(call: Call, verb: VerbOptions, groups: tuple[str, ...] | None = None) -> None:
    """Give a function the signature and the documentation that its flags make."""
    known = keywords(verb, groups)
    call.__doc__ = described(call, known)
    vars(call)["__signature__"] = signature(call, known)


_explain(run, RUN)
_explain(ladder, LADDER)
_explain(once, RUN, OF_ONE)
