"""From flags to a Plan: where defaults that depend on other flags are decided."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torr import __version__
from torr.errors import UsageError
from torr.model.plan import Closed, Count, Duration, Group, Open, Plan
from torr.model.request import Request
from torr.model.transport import Tls, Transport
from torr.model.url import Url
from torr.store.environment import allowed_cores
from torr.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.condition import Condition

Flags = dict[str, Any]

DEFAULT_DURATION_NS = 10 * SECOND_NS
DEFAULT_USERS = 50
DEFAULT_STATUSES = ((200, 399),)
DEFAULT_OPEN_CONNECTIONS = 100


def plan_of(url: str, flags: Flags) -> Plan:
    """The plan that a command's flags describe; raises UsageError that names the flag."""
    request = _request(url, flags)
    _check_names([*flags["slos"], *flags["abort_on"]], {request.name})
    drain_ns = flags["drain"]
    return Plan(
        groups=(Group(pace=_pace(flags), request=request, think=flags["think"]),),
        stop=_stop(flags),
        transport=_transport(flags),
        warmup_ns=flags["warmup"],
        drain_ns=request.timeout_ns if drain_ns is None else drain_ns,
        retry_delay_ns=flags["retry_delay"],
        workers=flags["workers"] or default_workers(Url.parse(url), allowed_cores()),
        processes=flags["processes"],
        seed=flags["seed"],
        log=_log(flags.get("log")),
    )


def default_workers(url: Url, cores: int) -> int:
    """One worker a core; half of the cores, at least one, when the target shares them."""
    return max(1, cores // 2) if url.is_loopback else cores


def _request(url: str, flags: Flags) -> Request:
    body, headers = _body(flags)
    request = Request(
        url=url,
        method=flags["method"] or ("GET" if body is None else "POST"),
        headers=headers,
        body=body,
        timeout_ns=flags["timeout"],
        accept_statuses=flags["expect_status"] or DEFAULT_STATUSES,
    )
    return request.with_default_headers(__version__)


def _check_names(conditions: Sequence[Condition], names: set[str]) -> None:
    """Refuse a condition on a request that is not sent: it could never be told."""
    for condition in conditions:
        if condition.name is not None and condition.name not in names:
            said = condition.text or str(condition)
            known = ", ".join(sorted(names))
            raise UsageError(
                f"{said!r}: no request is named {condition.name!r}", f"there is {known}"
            )


def _transport(flags: Flags) -> Transport:
    tls = Tls(
        insecure=flags["insecure"],
        ca=flags["cacert"],
        certificate=flags["cert"],
        key=flags["key"],
        resumption=not flags["no_tls_resumption"],
    )
    return Transport(
        keepalive=not flags["no_keepalive"],
        requests_per_connection=flags["requests_per_connection"],
        connections_per_second=flags["connections_per_second"],
        source_addresses=flags["source_address"],
        tls=tls,
    )


def _body(flags: Flags) -> tuple[bytes | None, tuple[tuple[str, str], ...]]:
    headers = tuple(flags["headers"])
    if flags["basic_auth"] is not None:
        headers = (*headers, flags["basic_auth"])
    plain, document = flags["body"], flags["json_body"]
    if document is None:
        return plain, headers
    if plain is not None:
        raise UsageError("-b/--body and --json-body are both given", "give one body")
    try:
        json.loads(document)
    except ValueError as error:
        raise UsageError(f"--json-body: not JSON: {error}", "-b sends any text") from error
    if not any(name.lower() == "content-type" for name, _ in headers):
        headers = (*headers, ("content-type", "application/json"))
    return document, headers


def _pace(flags: Flags) -> Closed | Open:
    connections = flags.get("connections")
    rate = flags.get("rate")
    if rate is not None:
        return Open(
            rate_per_s=rate,
            arrivals=flags["arrivals"] or "constant",
            connections=connections or DEFAULT_OPEN_CONNECTIONS,
            max_in_flight=flags["max_in_flight"],
        )
    for name in ("arrivals", "max_in_flight"):
        if flags.get(name) is not None:
            raise UsageError(f"--{name.replace('_', '-')} needs --rate", "add --rate 1000")
    return Closed(connections or DEFAULT_USERS)


def _stop(flags: Flags) -> Duration | Count:
    requests = flags.get("requests")
    if requests is None:
        return Duration(flags["duration"] or DEFAULT_DURATION_NS)
    if flags["duration"] is not None:
        raise UsageError("-z/--duration and --requests are both given", "give one stop")
    return Count(requests)


def _log(text: str | None) -> str | None:
    """The log's path, once it is sure that it can be written."""
    if text is None:
        return None
    path = Path(text)
    if path.is_dir():
        raise UsageError(f"--log {text}: is a directory", "name a file")
    if not path.parent.is_dir():
        raise UsageError(f"--log {text}: {path.parent} does not exist", "make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"--log {text}: cannot be written", "choose another file")
    return text
