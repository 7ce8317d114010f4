"""The lifetime of servers under comparison: one trial, or all trials of a cell.

with servers.server_for(trial, start) as server:     # new, or running since an earlier trial
    …                                                # the load
for trial, error in servers.stop_all(): …            # at the end of the cell
"""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from torr.messages.message import Message, message
from torr.servers.failure import TrialError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torr.experiments.trial import Trial

S = TypeVar("S")
Failures = list[tuple["Trial", TrialError]]


@dataclass(frozen=True)
class ServerPerTrial(Generic[S]):
    """Starts a server for every trial; `rule` describes the lifetime in reports."""

    rule: ClassVar[Message] = message(
        "rules.afresh",
        "Each trial started a new server on its own port, with its own folder for"
        " temporary files, and waited until it was healthy and its workers answered.",
    )

    def server_for(
        self, _trial: Trial, start: Callable[[], AbstractContextManager[S]]
    ) -> AbstractContextManager[S]:
        """Return a new server."""
        return start()

    def running(self) -> list[S]:
        """Return the servers that run between trials: none."""
        return []

    def stop_all(self) -> Failures:
        """Return no failures, since no server runs between trials."""
        return []


@dataclass
class ServerPerCell(Generic[S]):
    """Runs one server for all trials of a candidate in a cell; a failed one is started again."""

    rule: ClassVar[Message] = message(
        "rules.kept_up",
        "Servers started for the first trial of their cell and ran until its last one,"
        " all at once: servers without load were idle on the same cores.",
    )
    _servers: dict[str, tuple[ExitStack, S, Trial]] = field(default_factory=dict)

    @contextmanager
    def server_for(
        self, trial: Trial, start: Callable[[], AbstractContextManager[S]]
    ) -> Iterator[S]:
        """Yield the running server of the candidate, or a new one."""
        name = trial.candidate.name
        if name in self._servers:
            stack, server, _ = self._servers[name]
        else:
            stack = ExitStack()
            server = stack.enter_context(start())
        self._servers[name] = stack, server, trial
        try:
            yield server
        except BaseException:
            del self._servers[name]
            with stack:
                raise

    def running(self) -> list[S]:
        """Return the servers of this cell."""
        return [server for _, server, _ in self._servers.values()]

    def stop_all(self) -> Failures:
        """Stop all servers, the last one first; return their failures with their last trials."""
        failures: Failures = []
        with ExitStack() as stacks:
            for stack, _, trial in self._servers.values():
                stacks.callback(_close, stack, trial, failures)
            self._servers = {}
        return failures


def _close(stack: ExitStack, trial: Trial, failures: Failures) -> None:
    try:
        stack.close()
    except TrialError as error:
        failures.append((trial, error))
