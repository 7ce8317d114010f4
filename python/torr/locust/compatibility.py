"""Check whether torr supports the installed Locust: its version, and the names that torr uses.

Some of those names are private, and any version may lack one: then torr does not start, and names
the versions to install. torr accepts versions newer than the newest tested one if they have all
names, but no new major version.

"""

from __future__ import annotations

import re
from functools import reduce
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.messages.say import say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OLDEST, TESTED, NEXT_MAJOR = "2.32", "2.47", "3"
"""The oldest and the newest version that tests run with, and the first that is refused."""

REQUIRED_NAMES = {
    "locust.clients": (
        *("HttpSession._build_url", "HttpSession._send_request_safe_mode"),
        *("LocustHttpAdapter", "ResponseContextManager"),
    ),
    "locust.contrib.fasthttp": (
        *("FAILURE_EXCEPTIONS", "FastHttpSession", "FastRequest", "FastResponse"),
        "ResponseContextManager",
    ),
    "locust.event": ("EventHook",),
    "locust.main": ("main",),
    "locust.runners": ("MasterRunner.register_message", "WorkerRunner.send_message"),
    "locust.stats": (
        *("RequestStats.clear_all", "RequestStats.reset_all", "StatsEntry._cache_response_times"),
        *("StatsCSVFileWriter.close_files", "StatsCSVFileWriter.stats_writer"),
        *("StatsCSVFileWriter._exceptions_data_rows", "StatsCSVFileWriter._failures_data_rows"),
        *("StatsCSVFileWriter._requests_data_rows", "StatsEntry.serialize", "print_stats_json"),
    ),
    "locust.user": ("User.context",),
    "locust.user.users": ("HttpSession",),
    "geventhttpclient.client": ("HTTPClient", "HTTPClientPool.get_client"),
    "geventhttpclient.response": ("HTTPConnectionClosed", "HTTPParseError", "HTTPResponse"),
    "urllib3._collections": ("HTTPHeaderDict",),
    "urllib3.response": ("HTTPResponse._error_catcher",),
}
"""By module, the names that torr overrides, calls or replaces."""


def check(installed: str | None = None, load: Callable[[str], object] = import_module) -> None:
    """Raise UsageError if torr does not support the installed Locust."""
    installed_version = version("locust") if installed is None else installed
    is_in_range = _numbers(OLDEST) <= _numbers(installed_version) < _numbers(NEXT_MAJOR)
    missing = next(_missing_names(load), None) if is_in_range else None
    if is_in_range and missing is None:
        return
    reason = f", and {missing} is missing in the installed packages" if missing else ""
    raise UsageError(
        say(
            "torr works with Locust {oldest} to {tested}; this is {installed_version}{reason}",
            oldest=OLDEST,
            tested=TESTED,
            installed_version=installed_version,
            reason=reason,
        ),
        f"pip install 'torr[locust]' 'locust>={OLDEST},<{_after(TESTED)}'",
    )


def _missing_names(load: Callable[[str], object]) -> Iterator[str]:
    """Yield the names that are missing."""
    for module, names in REQUIRED_NAMES.items():
        yield from (f"{module}.{name}" for name in names if not _has(load, module, name))


def _has(load: Callable[[str], object], module: str, name: str) -> bool:
    try:
        reduce(getattr, name.split("."), load(module))
    except (ImportError, AttributeError):
        return False
    return True


def _after(text: str) -> str:
    """Return the first version that is not one of this major and minor number."""
    major, minor = _numbers(text)
    return f"{major}.{minor + 1}"


def _numbers(text: str) -> tuple[int, ...]:
    """Return the numbers that a version begins with."""
    return tuple(int(number) for number in re.findall(r"\d+", text.partition("+")[0])[:3])
