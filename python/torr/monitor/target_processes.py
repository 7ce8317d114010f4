"""Find the processes of this machine that serve a load's URLs: those that listen on its ports.

The kernel's tables are read; no packet is sent. Processes that this user may not inspect, torr
itself and its ancestors are not returned: the first process of a system holds sockets for its
services and is an ancestor of all.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from torr.procfs.listeners import addresses, listeners
from torr.procfs.sockets import holders
from torr.procfs.stat import pids, process_stat

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torr.model.url import Url


def listening_processes(urls: Iterable[Url]) -> list[int]:
    """Return the pids of the processes behind loopback URLs, ascending.

    Servers may have a listening socket per worker. Of processes that share one, the first is
    returned, which passed it on.
    """
    inodes = set()
    for host, port in {_address(url) for url in urls if _is_local(url)}:
        targets = addresses(host, port)
        found = listeners(port) or ()
        inodes |= {each.inode for each in found if any(map(each.accepts, targets))}
    if not inodes:
        return []
    first_holders = holders(inodes, sorted(pids(), reverse=True))
    return sorted({*first_holders.values()} - {*_ancestors()})


def _ancestors() -> list[int]:
    """Return the pids of this process and its ancestors."""
    pids = [os.getpid()]
    while (stat := process_stat(pids[-1])) is not None and stat.parent not in (0, *pids):
        pids.append(stat.parent)
    return pids


def _is_local(url: Url) -> bool:
    return url.is_loopback and url.socket is None


def _address(url: Url) -> tuple[str, int]:
    return url.host.strip("[]"), url.port_number
