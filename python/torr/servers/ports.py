"""Find a free port for a server, and the processes that listen on a port.

Listeners come from the kernel's tables, so that processes which share a port (SO_REUSEPORT) are
seen, and a server of an earlier trial is not mistaken for the new one. A connection is only opened
where the tables cannot be read.
"""

from __future__ import annotations

import secrets
import socket
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.errors import NothingMeasuredError
from torr.messages.message import message
from torr.messages.say import say
from torr.procfs.listeners import listeners
from torr.procfs.machine import machine
from torr.procfs.process import command_of
from torr.procfs.sockets import holder_of
from torr.servers.failure import TrialError

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOWEST, _HIGHEST = 10_000, 65_535
_TRIES = 200


@dataclass(frozen=True, slots=True)
class Listener:
    """A listening socket: `pid` and `command` are None where its process may not be inspected."""

    address: str
    pid: int | None = None
    command: str | None = None

    def __str__(self) -> str:
        owner = "a process" if self.pid is None else f"{self.command} (pid {self.pid})"
        return f"{owner} at {self.address}"


@contextmanager
def reserved_port() -> Iterator[int]:
    """Return a free port, which no other torr of this machine takes while the block runs.

    It is outside of the kernel's range of ephemeral ports, so that no client socket gets it by
    chance. Raises NothingMeasuredError when there is none.
    """
    for _ in range(_TRIES):
        port = secrets.choice(_choices())
        claim = _lock_port(port)
        if claim is None:
            continue
        with claim:
            if _is_free(port):
                yield port
                return
    raise NothingMeasuredError(
        say("no free port was found for a server"), say("stop what listens on them")
    )


def port_listeners(port: int) -> list[Listener]:
    """Return the sockets that listen on a port."""
    found = listeners(port)
    if found is None:
        return [Listener(f"127.0.0.1:{port}")] if _answers(port) else []
    held = []
    for each in found:
        holder = holder_of(each.inode)
        pid = None if holder is None else holder.pid
        host = f"[{each.address}]" if each.address.version == 6 else str(each.address)
        held.append(Listener(f"{host}:{port}", pid, None if pid is None else command_of(pid)))
    return held


def check_socket_free(path: str | None, name: str) -> None:
    """Raise TrialError (port_taken) if a server listens at a Unix socket; None is no socket.

    Many servers remove the socket of another one and listen in its place, without an error.
    """
    if path is None:
        return
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1)
        try:
            client.connect(path)
        except (BlockingIOError, TimeoutError):
            pass  # its queue of connections is full
        except OSError:
            return
    raise TrialError(
        "port_taken",
        name,
        message("trial.socket_taken", "another process listens at {path}", path=path),
        message("hint.socket_taken", "stop it, or give each candidate a socket of its own"),
    )


def check_free(port: int | None, name: str) -> None:
    """Raise TrialError (port_taken) that names the listeners; a Unix socket has no port."""
    taken = [] if port is None else port_listeners(port)
    if taken:
        raise TrialError(
            "port_taken",
            name,
            message(
                "trial.port_taken",
                "port {port} is taken by {holders}",
                port=port,
                holders=", ".join(dict.fromkeys(map(str, taken))),
            ),
            message(
                "hint.port_taken",
                "stop it, or write {placeholder} in command and url to have a free one",
                placeholder="{port}",
            ),
        )


def _choices() -> range:
    """Return the larger part of the ports outside of the ephemeral range."""
    low, high = machine().port_range or (_HIGHEST + 1, _HIGHEST)
    below, above = range(_LOWEST, low), range(high + 1, _HIGHEST + 1)
    larger = max(below, above, key=len)
    return larger if len(larger) >= _TRIES else range(_LOWEST, _HIGHEST + 1)


def _lock_port(port: int) -> socket.socket | None:
    """Bind an abstract Unix socket named after the port; the kernel frees it with the process."""
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0torr-port-{port}")
    except OSError:
        claim.close()
        return None
    return claim


def _is_free(port: int) -> bool:
    """Return whether a port is unused; without SO_REUSEADDR closing connections count, too."""
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return not port_listeners(port)


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
