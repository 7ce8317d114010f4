"""What result.json says of a test before it starts, and where its target is."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import gevent
import locust

from torr.locust.arguments import options_in
from torr.locust.lanes import PORTS
from torr.model.label import labels_of
from torr.model.secrets import redacted_command, redacted_text, whole
from torr.store.environment import environment as machine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locust.env import Environment

# So long a name of the target is looked up, to see whether it is this machine.
_LOOKUP_S = 1.0


def head_of(environment: Environment, arguments: Sequence[str]) -> dict[str, Any]:
    """The head of a run, without secrets."""
    options = options_in(environment.parsed_options)
    return {
        "kind": "locust",
        "command": ["torr", "locust", *redacted_command(arguments)],
        "plan": {},
        **labels_of(options.note, options.tag),
        "experiment": _experiment(environment),
        "environment": machine(),
    }


def warmup_s(environment: Environment) -> float:
    """How long users are spawned, about, where statistics are reset after that."""
    options = environment.parsed_options
    if not environment.reset_stats:
        return 0.0
    users, rate = (getattr(options, key, None) for key in ("num_users", "spawn_rate"))
    return (users or 1) / (rate or 1)


def addresses_of(environment: Environment) -> list[str]:
    """Where the targets listen, as far as that is known in time."""
    found: list[str] = []
    with gevent.Timeout(_LOOKUP_S, False):
        for host in hosts_of(environment):
            found += _looked_up(host)
    return list(dict.fromkeys(found))


def hosts_of(environment: Environment) -> list[str]:
    """The hosts that users are sent to."""
    hosts = [environment.host] if environment.host else [x.host for x in environment.user_classes]
    return list(dict.fromkeys(host for host in hosts if isinstance(host, str)))


def _experiment(environment: Environment) -> dict[str, Any]:
    options = environment.parsed_options
    shape = environment.shape_class
    asked = {
        "users": "num_users",
        "spawn_rate": "spawn_rate",
        "run_time_s": "run_time",
        "processes": "processes",
        "stop_timeout_s": "stop_timeout",
    }
    return {
        "locust": locust.__version__,
        "locustfiles": [whole(str(file)) for file in environment.parsed_locustfiles or ()],
        "user_classes": [x.__name__ for x in environment.user_classes],
        "hosts": [redacted_text(host) for host in hosts_of(environment)],
        **{name: getattr(options, key, None) for name, key in asked.items()},
        "shape": None if shape is None else type(shape).__name__,
        "tags": sorted(getattr(options, "tags", None) or ()),
        "exclude_tags": sorted(getattr(options, "exclude_tags", None) or ()),
        "reset_stats": bool(environment.reset_stats),
    }


def _looked_up(host: str) -> list[str]:
    try:
        parts = urlsplit(host)
        port = parts.port or PORTS.get(parts.scheme, 80)
        found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, ValueError):
        return []
    # The part of a link-local address behind its % is this machine's name of the link.
    names = [str(place[0]).partition("%")[0] for *_, place in found]
    return [f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name in names]
