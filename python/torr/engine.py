"""The interface to the engine: it takes a plan, and returns intervals and a level.

Starts loads and reads what they say; decides nothing and keeps nothing. Errors of the compiled
module are translated here, once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from torr.children import command
from torr.errors import NothingMeasuredError, UsageError
from torr.messages.advice import advice, text_of_reason
from torr.messages.say import chain, say
from torr.results.base import Statistics, convert, decode_message
from torr.results.exchange import Exchange
from torr.results.level import Interval, Level

if TYPE_CHECKING:
    from torr.model.feed import FeedRow
    from torr.model.plan import Plan

# How long one wait for an interval lasts: a signal's handler runs between two waits.
WAIT_S = 0.1
_UNRESOLVED = re.compile(r'cannot resolve "([^"]+)"')

_INTERVALS = msgspec.json.Decoder(Interval, dec_hook=decode_message)


class Load(Protocol):
    """A running load: the compiled `Run`, or a test double."""

    def next_interval(self, timeout_s: float) -> str | None:
        """Return the text of the next interval; None on timeout and at the end of the load."""

    def done(self) -> bool:
        """Return whether all intervals were returned."""

    def stop(self) -> None:
        """End the window now, and wait for open requests."""

    def abort(self) -> None:
        """End the load at once."""

    def level(self) -> str:
        """Return the text of the level, when the load has ended."""


Start = Callable[["Plan"], Load]


def start(plan: Plan) -> Load:
    """Start a load.

    Raises UsageError when the engine refuses the plan or the host is unknown, NothingMeasuredError
    when the machine does not give what it takes.
    """
    with _translated():
        from torr import _engine

        return _engine.Run(plan.to_text(), command("fire"), _rows(plan))


def start_on_nodes(
    plan: Plan, sockets: list[tuple[str, int]], silence_s: int | None = None
) -> Load:
    """Start a load on other nodes: their names, and the descriptors of connections to engines.

    A node counts as lost after `silence_s` without a sign of life, or after the engine's own limit.
    Raises as `start` does.
    """
    with _translated():
        from torr import _engine

        return _engine.Run.on_nodes(plan.to_text(), sockets, _rows(plan), silence_s)


def _rows(plan: Plan) -> Iterator[list[FeedRow]] | None:
    return None if plan.feed is None else plan.feed.open()


def read_toml(text: str) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the content of a TOML text, and the line of each key by its dotted path.

    Raises ValueError whose text begins with the line and a colon.
    """
    from torr import _engine

    found = json.loads(_engine.read_toml(text))
    return found["value"], found["lines"]


def intervals(load: Load) -> Iterator[Interval]:
    """Yield the intervals of a load until it has ended."""
    while not load.done():
        text = load.next_interval(WAIT_S)
        if text is not None:
            yield decoded_interval(text)


def level(load: Load) -> Level:
    """Return the level of a load that has ended."""
    try:
        text = load.level()
    except RuntimeError as error:
        raise NothingMeasuredError(
            say("the engine returned no level: {error}", error=error)
        ) from error
    return decoded_level(text)


def decoded_interval(text: str) -> Interval:
    """Return an interval that the engine wrote."""
    return _INTERVALS.decode(text)


def decoded_level(text: str) -> Level:
    """Return a level that the engine wrote; of a window that never opened the rates are 0."""
    members = json.loads(text)
    rates = {key: members[key] or 0.0 for key in ("ok_per_s", "attempted_per_s")}
    return convert({**members, **rates}, Level)


def once(plan: Plan) -> Exchange:
    """Send one request; return request and answer."""
    with _translated():
        from torr import _engine

        return msgspec.json.decode(_engine.once(plan.to_text()), type=Exchange)


def statistics(nanoseconds: Sequence[int]) -> tuple[Statistics | None, str]:
    """Return statistics in milliseconds by the rules of result.json, and their histogram.

    None where there is no value.
    """
    from torr import _engine

    found = json.loads(_engine.statistics(nanoseconds))
    return msgspec.convert(found["stats"], Statistics | None), found["histogram"]


def reasons() -> dict[str, str]:
    """Return the reasons why an attempt can fail, each with its English."""
    with _translated():
        from torr import _engine

        return dict(_engine.reasons())


def messages() -> dict[str, tuple[str, ...]]:
    """Return the codes of the engine's messages with their English, for one `{n}` and several."""
    with _translated():
        from torr import _engine

        return {code: tuple(english) for code, english in _engine.messages()}


@contextmanager
def _translated() -> Iterator[None]:
    """Turn the errors of the compiled module into torr's."""
    try:
        yield
    except ImportError as error:
        raise NothingMeasuredError(
            say("the engine is not built: {error}", error=error), say("run `make build`")
        ) from error
    except ValueError as error:
        host = _UNRESOLVED.search(str(error))
        if host is not None:
            raise UsageError(
                say("cannot resolve {host!r}", host=host[1]),
                say("check the name, or the DNS of this machine"),
            ) from error
        raise UsageError(str(error)) from error
    except OSError as error:
        if isinstance(error, ConnectionError) and error.args[1:] and error.args[1] in reasons():
            raise _unanswered(*error.args) from error
        raise NothingMeasuredError(
            say("the engine could not start: {error}", error=error)
        ) from error


def _unanswered(server: str, reason: str) -> NothingMeasuredError:
    """Return the error where a server does not say which version of HTTP it speaks."""
    asked = say("--http auto: {server} did not say which version of HTTP it speaks", server=server)
    why = text_of_reason("reason", reasons(), reason)
    return NothingMeasuredError(chain(": ", [asked, reason, why]), advice(reason) or None)
