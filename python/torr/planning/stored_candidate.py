"""A candidate as result.json has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.model.secret_names import REDACTED, is_secret
from torr.model.secrets import redacted_text, whole
from torr.planning.checksums import checksums
from torr.servers.preparation import Preparation
from torr.servers.versions import versions_in

if TYPE_CHECKING:
    from torr.model.json import JsonObject
    from torr.model.plan import Plan
    from torr.results.base import Factors
    from torr.sources.candidate_entry import Candidate

NO_PREPARATION = Preparation()


def stored_candidate(
    candidate: Candidate, plan: Plan, factors: Factors, preparation: Preparation = NO_PREPARATION
) -> JsonObject:
    """Return enough of a candidate to start its server again; `plan` is the load of one trial."""
    command = candidate.command
    return {
        "command": command.redacted(),
        "url": redacted_text(command.url),
        "env": {name: REDACTED if is_secret(name) else redacted_text(x) for name, x in command.env},
        "cwd": whole(str(command.cwd)),
        "health": command.health,
        "expect": candidate.expected.as_json(),
        "plan": plan.as_stored(),
        "stop_signal": command.stop_signal,
        "grace_s": command.grace_s,
        "health_timeout_s": command.health_timeout_s,
        "checksums": checksums(plan, preparation),
        "versions": versions_in(command, {**preparation.otherwise, **factors}),
    }
