"""The monitoring of a load: the sources of --monitor, and a target on this machine.

Nothing is opened here: a run makes its monitor when a level begins, since processes start and end
between levels.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from torr.errors import require
from torr.messages.say import say
from torr.monitor.exporters import ServingPlace, exporter
from torr.options.readers import watched
from torr.sources.entry import errors_at
from torr.sources.names import is_plan_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.model.plan import Plan
    from torr.model.url import Url
    from torr.monitor.monitor import MonitorScope, MonitorSource
    from torr.sources.matrix_file import MatrixFile
    from torr.sources.monitor_entry import MonitorEntry

    Endpoint = Url | ServingPlace

_ANY_PORT = 1


def monitor_scope_of(
    urls: Sequence[str], plan: Plan, monitor: Sequence[int | Url | ServingPlace]
) -> Callable[[], MonitorScope]:
    """Return a function that makes the scope of a level's monitor."""
    pids = [source for source in monitor if isinstance(source, int)]
    endpoints = [_checked(source) for source in monitor if not isinstance(source, int)]
    return partial(_scope, pids, endpoints, _monitor_entry(urls), plan)


def sources_of(file: MatrixFile) -> Callable[[int | None], tuple[MonitorSource, ...]]:
    """Return a function that makes the sources of a trial's monitor; raise FileError.

    Its argument is the port of the trial's server, which `{port}` stands for.
    """
    with errors_at(file.path, file.lines.get("monitor.at", file.lines.get("monitor", 1))):
        _endpoints(file.monitor.at, _ANY_PORT)
    return lambda port: tuple(
        _source(place, file.monitor) for place in _endpoints(file.monitor.at, port)
    )


def _endpoints(texts: Sequence[str], port: int | None) -> list[Endpoint]:
    """Return the sources at a port; raise UsageError for one that a comparison cannot have."""
    sources = [watched(text.replace("{port}", f"{port}")) for text in texts]
    for source in sources:
        hint = say("the processes of candidates are watched anyway")
        require(
            not isinstance(source, int), say("monitor: {source} is a process", source=source), hint
        )
    return [_checked(source) for source in sources if not isinstance(source, int)]


def _checked(source: Endpoint) -> Endpoint:
    """Return a source that can be read; raise UsageError for others."""
    if not isinstance(source, ServingPlace):
        return _checked_endpoint(source)
    if source.url is not None:
        _checked_endpoint(source.url)
        return source
    from torr.monitor.nvml import check_gpus

    check_gpus(source)
    return source


def _checked_endpoint(endpoint: Url) -> Url:
    problem = say(
        "--monitor {address}: a metrics endpoint needs an http URL", address=endpoint.address
    )
    require(endpoint.socket is None, problem, say("use a URL"))
    return endpoint


def _monitor_entry(urls: Sequence[str]) -> MonitorEntry:
    from torr.sources.monitor_entry import MonitorEntry
    from torr.sources.plan_file import read_plan_file

    is_file = bool(urls) and is_plan_file(urls[0])
    return read_plan_file(Path(urls[0])).monitor if is_file else MonitorEntry()


def _scope(
    pids: Sequence[int], endpoints: Sequence[Endpoint], entry: MonitorEntry, plan: Plan
) -> MonitorScope:
    from torr.monitor.monitor import MonitorScope
    from torr.monitor.target_processes import listening_processes

    roots = list(pids) or listening_processes([request.parsed_url for request in plan.requests])
    sources = tuple(_source(place, entry) for place in endpoints)
    return MonitorScope(roots=(lambda: roots) if roots else None, sources=sources)


def _source(place: Endpoint, entry: MonitorEntry) -> MonitorSource:
    """Return the source of a place; a URL without a path is a Prometheus server."""
    if isinstance(place, ServingPlace):
        return _named_source(place)
    return _unnamed_source(place, entry)


def _named_source(place: ServingPlace) -> MonitorSource:
    from torr.monitor.nvml import gpus_of
    from torr.monitor.serving_source import endpoint_of

    if place.url is None:
        return gpus_of(place)
    return endpoint_of(exporter(place.source), place.url)


def _unnamed_source(url: Url, entry: MonitorEntry) -> MonitorSource:
    from torr.monitor.prometheus import PrometheusServer
    from torr.monitor.query_sets import SETS, queries_in
    from torr.monitor.text_endpoint import DEFAULT_NAMES, TextEndpoint

    if url.target == "/":
        return PrometheusServer(url, entry.queries or queries_in(SETS))
    return TextEndpoint(url, entry.names or DEFAULT_NAMES)
