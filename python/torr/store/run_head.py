"""The head of result.json: the part that is known before a run is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.model.secrets import redacted_command
from torr.results.experiment import Experiment
from torr.results.result import RunHead
from torr.store.environment import environment

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torr.model.json import JsonObject
    from torr.results.result import Kind


def run_head(  # noqa: PLR0913 - the keys of result.json
    kind: Kind,
    command: Sequence[str],
    note: str | None,
    tags: Iterable[str],
    *,
    experiment: Experiment | None = None,
    plan: JsonObject | None = None,
) -> RunHead:
    """Return the head of a run with its command, without secrets; each tag is stored once."""
    return RunHead(
        kind=kind,
        note=note or None,
        tags=list(dict.fromkeys(tags)),
        environment=environment(),
        command=redacted_command(command),
        plan=plan,
        experiment=experiment or Experiment(),
    )
