"""The part of result.json that is written before a test starts, and the target's addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import gevent
import locust

from torr.locust.arguments import options_in
from torr.locust.pools import PORTS, resolve
from torr.model.secrets import redacted_text, whole
from torr.results.experiment import Experiment
from torr.store.run_head import run_head

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locust.env import Environment

    from torr.results.result import RunHead

# Time limit for resolving the target's name, which tells whether it is this machine.
_LOOKUP_S = 1.0


def run_head_of(environment: Environment, arguments: Sequence[str]) -> RunHead:
    """Return the head of a run, without secrets."""
    options = options_in(environment.parsed_options)
    return run_head(
        "locust",
        ["torr", "locust", *arguments],
        options.note,
        options.tag,
        experiment=_experiment(environment),
        plan={},
    )


def warmup_s(environment: Environment) -> float:
    """Return about how long users are spawned, where statistics are reset after that."""
    options = environment.parsed_options
    if not environment.reset_stats:
        return 0.0
    users, rate = (getattr(options, key, None) for key in ("num_users", "spawn_rate"))
    return (users or 1) / (rate or 1)


def addresses_of(environment: Environment) -> list[str]:
    """Return the addresses of the targets that could be resolved in time."""
    addresses: list[str] = []
    with gevent.Timeout(_LOOKUP_S, False):
        for host in hosts_of(environment):
            addresses += _endpoints(host)
    return list(dict.fromkeys(addresses))


def hosts_of(environment: Environment) -> list[str]:
    """Return the hosts that users send to."""
    hosts = (
        [environment.host]
        if environment.host
        else [user_class.host for user_class in environment.user_classes]
    )
    return list(dict.fromkeys(host for host in hosts if isinstance(host, str)))


def _experiment(environment: Environment) -> Experiment:
    options = environment.parsed_options
    shape = environment.shape_class
    return Experiment(
        locust=locust.__version__,
        locustfiles=[whole(str(file)) for file in environment.parsed_locustfiles or ()],
        user_classes=[user_class.__name__ for user_class in environment.user_classes],
        hosts=[redacted_text(host) for host in hosts_of(environment)],
        users=getattr(options, "num_users", None),
        spawn_rate=getattr(options, "spawn_rate", None),
        run_time_s=getattr(options, "run_time", None),
        processes=getattr(options, "processes", None),
        stop_timeout_s=getattr(options, "stop_timeout", None),
        shape=None if shape is None else type(shape).__name__,
        tags=sorted(getattr(options, "tags", None) or ()),
        exclude_tags=sorted(getattr(options, "exclude_tags", None) or ()),
        reset_stats=bool(environment.reset_stats),
    )


def _endpoints(host: str) -> list[str]:
    try:
        parts = urlsplit(host)
        port = parts.port or PORTS.get(parts.scheme, 80)
        addresses = resolve(parts.hostname or "", port)
    except (OSError, ValueError):
        return []
    return [f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name, _ in addresses]
