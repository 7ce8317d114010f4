"""`torr.run`, `torr.ladder`, `torr.once`: the commands as functions.

They measure as the commands do and leave the same directory, but print nothing and draw nothing:
the page is drawn when it is asked for. The engine works in threads of its own, and waiting for it
leaves the interpreter to others.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from torr.api.keywords import described, keywords, read, signature
from torr.cli.ladder import ladder as ladder_command
from torr.cli.options import CONNECTION, REQUEST
from torr.cli.run import run as run_command
from torr.model.secrets import redacted_command

if TYPE_CHECKING:
    import click

    from torr.api.answer import Answer
    from torr.api.keywords import Urls
    from torr.api.listening import Progress
    from torr.api.result import Result
    from torr.cli.conduct import Prepared
    from torr.experiments.patience import Follow

OF_ONE = (REQUEST, CONNECTION)
"""The groups of flags that matter to a single request."""

Call = Callable[..., Any]


def run(url: Urls = (), *, progress: Progress | None = None, **flags: Any) -> Result:  # noqa: ANN401
    """Fire one level of load at `url`, or at several; what it came to."""
    return _measure(run_command, url, progress, flags)


def ladder(url: Urls = (), *, progress: Progress | None = None, **flags: Any) -> Result:  # noqa: ANN401
    """Find how much `url` can take, level after level: peak, knee, capacity under your SLOs."""
    return _measure(ladder_command, url, progress, flags)


def once(url: str, **flags: Any) -> Answer:  # noqa: ANN401
    """Send one request to `url` and keep both sides of it."""
    from torr.api.answer import Answer
    from torr.cli.once import answered
    from torr.planning.plan import plan_of

    found, _ = read(run_command, url, flags, OF_ONE)
    return Answer.of(answered(plan_of(found.pop("urls"), found)))


def _measure(
    verb: click.Command, urls: Urls, progress: Progress | None, given: dict[str, Any]
) -> Result:
    """Prepare, measure, judge and keep; then raise what ended it early, if anything did."""
    from torr.api.ctrl_c import hearing_ctrl_c
    from torr.api.listening import Listening
    from torr.cli.conclude import closed
    from torr.cli.conduct import measured, tokenizer_of
    from torr.cli.unanswered import nothing_measured
    from torr.experiments.interrupt import Interrupt
    from torr.experiments.lab import Lab
    from torr.experiments.patience import directly, patiently
    from torr.store.kept.registering import register
    from torr.store.rundir import RunDirectory

    prepared, flags = _prepared(verb, urls, given)
    tokenizer = tokenizer_of(flags)
    interrupt = Interrupt()
    listening = Listening(interrupt, progress)
    # A function of the caller's is called in the thread of the call.
    follow: Follow = patiently if progress is None else directly
    folder, name = flags["folder"], flags["name"]
    with RunDirectory.create(folder, name, prepared.head, secrets=prepared.secrets) as directory:
        with hearing_ctrl_c(interrupt):
            lab = Lab(
                directory,
                listening,
                interrupt,
                flags["abort_on"],
                follow=follow,
                tokenizer=tokenizer,
                watch=prepared.watch,
            )
            outcome = measured(prepared, lab)
        result = closed(outcome, directory, flags["slos"])
        kept = register(directory.path, is_asked=not flags["no_store"])
    if kept.problem is not None:
        warnings.warn(kept.problem, RuntimeWarning, stacklevel=3)
    if listening.raised is not None:
        raise listening.raised
    if outcome.interrupted:
        raise KeyboardInterrupt(f"what was measured is kept in {directory.path}")
    if outcome.failure is not None:
        raise nothing_measured(outcome.failure, result, directory.path)
    from torr.api.result import load

    return load(directory.path)


def _prepared(
    verb: click.Command, urls: Urls, given: dict[str, Any]
) -> tuple[Prepared, dict[str, Any]]:
    """What the command would measure, with the command line that measures it again."""
    flags, command = read(verb, urls, given)
    prepared: Prepared = import_module(f"torr.cli.{verb.name}").prepared(flags.pop("urls"), flags)
    head = {**prepared.head, "command": ["torr", *redacted_command(command)]}
    return replace(prepared, head=head), flags


def _explain(call: Call, verb: click.Command, groups: tuple[str, ...] | None = None) -> None:
    """Give a function the signature and the documentation that its flags make."""
    known = keywords(verb, groups)
    call.__doc__ = described(call, known)
    vars(call)["__signature__"] = signature(call, known)


_explain(run, run_command)
_explain(ladder, ladder_command)
_explain(once, run_command, OF_ONE)
