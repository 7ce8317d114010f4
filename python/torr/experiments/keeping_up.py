"""Who lives how long: servers of one trial each, or those that stay up through their cell.

with servers.lent(trial, begin) as server:      # begun for this trial, or up since an earlier one
    …                                           # the load
for trial, error in servers.end(): …            # the cell is over
"""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from torr.servers.failure import TrialError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torr.experiments.trial import Trial

S = TypeVar("S")


class Servers(Protocol[S]):
    """Lends the server of a trial's candidate."""

    def lent(
        self, trial: Trial, begin: Callable[[], AbstractContextManager[S]]
    ) -> AbstractContextManager[S]:
        """The candidate's server, up as long as the block runs."""

    def end(self) -> list[tuple[Trial, TrialError]]:
        """Stop all that is up: what went wrong with it, and in whose last trial."""


class Afresh(Generic[S]):
    """A server for every trial."""

    def lent(
        self, _trial: Trial, begin: Callable[[], AbstractContextManager[S]]
    ) -> AbstractContextManager[S]:
        """A new one."""
        return begin()

    def end(self) -> list[tuple[Trial, TrialError]]:
        """Nothing is up."""
        return []


@dataclass
class KeptUp(Generic[S]):
    """A server for all trials of a candidate in a cell; one that fails is begun anew."""

    _up: dict[str, tuple[ExitStack, S, Trial]] = field(default_factory=dict)

    @contextmanager
    def lent(self, trial: Trial, begin: Callable[[], AbstractContextManager[S]]) -> Iterator[S]:
        """The one that is up, or a new one."""
        name = trial.candidate.name
        if name in self._up:
            stack, server, _ = self._up[name]
        else:
            stack = ExitStack()
            server = stack.enter_context(begin())
        self._up[name] = stack, server, trial
        try:
            yield server
        except BaseException:
            del self._up[name]
            with stack:
                raise

    def end(self) -> list[tuple[Trial, TrialError]]:
        """Stop all that is up, the last one first."""
        ended = [(trial, _ended(stack)) for stack, _, trial in reversed(self._up.values())]
        self._up.clear()
        return [(trial, error) for trial, error in ended if error is not None]


def _ended(stack: ExitStack) -> TrialError | None:
    try:
        stack.close()
    except TrialError as error:
        return error
    return None
