"""Who serves a load's URLs on this machine: the processes that listen where it goes.

Only what the kernel tells: no packet is sent. A target of another machine, one that this user may
not look at, and one that is part of torr's own process are not found. Nor is one that torr runs
below: the first process of a system holds sockets for its services, and everybody is below it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from torr.procfs.listeners import addresses, listeners
from torr.procfs.sockets import holder_of
from torr.procfs.stat import process_stat

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torr.model.url import Url

MOST_SOCKETS = 8
"""Listening sockets that are looked for: workers that each have one of their own are many."""

_PORTS = {"http": 80, "https": 443}


def listening(places: Iterable[Url]) -> list[int]:
    """The processes behind loopback URLs, by their numbers, ascending."""
    found: set[int] = set()
    for host, port in {_where(place) for place in places if _is_here(place)}:
        goes_to = addresses(host, port)
        heard = [each for each in listeners(port) or () if any(map(each.hears, goes_to))]
        for inode in list(dict.fromkeys(each.inode for each in heard))[:MOST_SOCKETS]:
            holder = holder_of(inode)
            if holder is not None and holder.pid not in _own_line():
                found.add(holder.pid)
    return sorted(found)


def _own_line() -> list[int]:
    """This process and those above it."""
    line = [os.getpid()]
    while (above := process_stat(line[-1])) is not None and above.parent not in (0, *line):
        line.append(above.parent)
    return line


def _is_here(place: Url) -> bool:
    return place.is_loopback and place.socket is None


def _where(place: Url) -> tuple[str, int]:
    return place.host.strip("[]"), place.port or _PORTS[place.scheme]
