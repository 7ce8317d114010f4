"""What is watched during a load: what --monitor names, and a target of this machine.

Nothing is opened here: a run asks for its watch when a level begins, since processes come and go
between levels.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from torr.errors import require
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


def watch_of(
    urls: Sequence[str], plan: Plan, monitor: Sequence[int | Url]
) -> Callable[[], MonitorScope]:
    """Return what makes the watch of each level, by the options and the plan file."""
    pids = [each for each in monitor if isinstance(each, int)]
    endpoints = [_checked(each) for each in monitor if not isinstance(each, int)]
    return partial(_watch, pids, endpoints, _entry(urls), plan)


def sources_of(file: MatrixFile) -> Callable[[], tuple[MonitorSource, ...]]:
    """What makes the sources of each trial; raises FileError for what names none."""
    with errors_at(file.path, file.lines.get("monitor.at", file.lines.get("monitor", 1))):
        found = [watched(text) for text in file.monitor.at]
        for each in found:
            own = "the processes of candidates are watched anyway"
            require(not isinstance(each, int), f"monitor: {each} is a process", own)
        endpoints = [_checked(each) for each in found if not isinstance(each, int)]
    return lambda: tuple(_source(url, file.monitor) for url in endpoints)


def _checked(endpoint: Url) -> Url:
    of_socket = f"--monitor {endpoint.address}: numbers come over http"
    require(endpoint.socket is None, of_socket, "use a URL")
    return endpoint


def _entry(urls: Sequence[str]) -> MonitorEntry:
    from torr.sources.monitor_entry import MonitorEntry
    from torr.sources.plan_file import read_plan_file

    is_file = bool(urls) and is_plan_file(urls[0])
    return read_plan_file(Path(urls[0])).monitor if is_file else MonitorEntry()


def _watch(
    pids: Sequence[int], endpoints: Sequence[Url], entry: MonitorEntry, plan: Plan
) -> MonitorScope:
    from torr.monitor.local import listening
    from torr.monitor.monitor import MonitorScope

    roots = list(pids) or listening([request.parsed_url for request in plan.requests])
    sources = tuple(_source(url, entry) for url in endpoints)
    return MonitorScope(roots=(lambda: roots) if roots else None, sources=sources)


def _source(url: Url, entry: MonitorEntry) -> MonitorSource:
    """A server where the URL has no path, else an endpoint of text."""
    from torr.monitor.prometheus import PrometheusServer
    from torr.monitor.query_sets import SETS, queries_of
    from torr.monitor.scraped import DEFAULT_NAMES, TextEndpoint

    if url.target == "/":
        return PrometheusServer(url, entry.queries or queries_of(SETS))
    return TextEndpoint(url, entry.names or DEFAULT_NAMES)
