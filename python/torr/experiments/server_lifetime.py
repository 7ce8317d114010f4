"""Who lives how long: servers of one trial each, or those that stay up through their cell.

with servers.lent(trial, begin) as server:      # begun for this trial, or up since an earlier one
    …                                           # the load
for trial, error in servers.end(): …            # the cell is over
"""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypeVar

from torr.messages.message import Message, message
from torr.servers.failure import TrialError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torr.experiments.trial import Trial

S = TypeVar("S")


class Servers(Protocol[S]):
    """Lends the server of a trial's candidate; `rule` says for the report how long it lives."""

    @property
    def rule(self) -> Message:
        """The sentence for the report."""

    def lent(
        self, trial: Trial, begin: Callable[[], AbstractContextManager[S]]
    ) -> AbstractContextManager[S]:
        """The candidate's server, up as long as the block runs."""

    def up(self) -> list[S]:
        """All that are up between trials."""

    def end(self) -> list[tuple[Trial, TrialError]]:
        """Stop all that is up: what went wrong with it, and in whose last trial."""


@dataclass(frozen=True)
class ServerPerTrial(Generic[S]):
    """A server for every trial."""

    rule: ClassVar[Message] = message(
        "rules.afresh",
        "Each trial started its server afresh, on a port and with a folder for temporary files of"
        " its own, and waited until it was healthy and its workers answered.",
    )

    def lent(
        self, _trial: Trial, begin: Callable[[], AbstractContextManager[S]]
    ) -> AbstractContextManager[S]:
        """A new one."""
        return begin()

    def up(self) -> list[S]:
        """None is."""
        return []

    def end(self) -> list[tuple[Trial, TrialError]]:
        """Nothing is up."""
        return []


@dataclass
class ServerPerCell(Generic[S]):
    """A server for all trials of a candidate in a cell; one that fails is begun anew."""

    rule: ClassVar[Message] = message(
        "rules.kept_up",
        "Servers were started for the first trial of their cell and kept up to its last, all of"
        " them at once: those that were not fired at lay idle on the same cores.",
    )
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

    def up(self) -> list[S]:
        """All that were begun in this cell."""
        return [server for _, server, _ in self._up.values()]

    def end(self) -> list[tuple[Trial, TrialError]]:
        """Stop all that is up, the last one first, whatever is raised meanwhile."""
        failures: list[tuple[Trial, TrialError]] = []
        with ExitStack() as ending:
            for stack, _, trial in self._up.values():
                ending.enter_context(_noting(failures, trial, stack))
            self._up = {}
        return failures


@contextmanager
def _noting(
    failures: list[tuple[Trial, TrialError]], trial: Trial, stack: ExitStack
) -> Iterator[None]:
    """Closes a stack behind the block, and notes how it failed."""
    try:
        yield
    finally:
        try:
            stack.close()
        except TrialError as error:
            failures.append((trial, error))
