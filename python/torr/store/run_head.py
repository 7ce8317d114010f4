"""The head of result.json: the part that is known before a run is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.model.secrets import redacted_command
from torr.results.experiment import Experiment
from torr.store.environment import environment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.json import JsonObject


def run_head(
    kind: str,
    command: Sequence[str],
    labels: JsonObject,
    *,
    experiment: Experiment | None = None,
    plan: JsonObject | None = None,
) -> JsonObject:
    """Return the head of a run with its command, without secrets; `labels` are note and tags."""
    return {
        "kind": kind,
        "command": redacted_command(command),
        "plan": plan,
        **labels,
        "experiment": experiment or Experiment(),
        "environment": environment(),
    }
