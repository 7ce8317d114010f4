"""The small process that holds one server, and outlives neither it nor torr.

    stdin   first a JSON object (what to start), then orders, a line each:
            signal NUMBER          to the server's first process, or to all if that has ended
            signal NUMBER all      to everything in the tree
            end                    kill what is left, say what that was, and end
    stdout  reports, a JSON object a line: started | failed, exited, gone, ended

It is in a session of its own and adopts the orphans of the server, so that what forks and leaves
still belongs to it. When stdin ends, however torr ended, it kills the tree and removes the
scratch folder. What the server prints goes to a bounded log. It decides nothing: when to stop and
what to make of an exit code is for `server.py`. It imports next to nothing, to start at once.
"""

from __future__ import annotations

import json
import os
import select
import signal
import time
from contextlib import suppress

from torr.procfs.process import command_of
from torr.procfs.tree import descendants
from torr.servers import cgroup
from torr.servers.bounded_log import BoundedLog
from torr.servers.child import adopt_orphans, become

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KILLING_S = 5.0
_READ_BYTES = 1 << 16
_DRAINED_BYTES = 1 << 20
_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main() -> None:
    """Start what the first line says, obey until told to end."""
    wake = _signals_as_bytes()
    adopt_orphans()
    line, rest = _first_line()
    if line:
        Watcher(json.loads(line), rest, wake).run()


class Watcher:
    """A server's tree, its log and the two pipes to torr."""

    def __init__(self, spec: dict[str, Any], orders: bytes, wake: int) -> None:
        self._spec = spec
        self._orders = orders
        self._wake = wake
        self._log = BoundedLog(spec["log"])
        self._first: int | None = None
        self._is_over = False
        self._poller = select.poll()
        self._out, self._into = os.pipe()
        os.set_blocking(self._out, False)
        self._cgroup, self._without_cgroup = _cgroup(spec)

    def run(self) -> None:
        """Start the server, then take what comes until an order or the end of all orders."""
        try:
            self._start()
            self._obey()
            for file in (0, self._out, self._wake):
                self._poller.register(file, select.POLLIN)
            while not self._is_over:
                for file, _ in self._poller.poll():
                    self._take(file)
        finally:
            self._end()

    def _take(self, file: int) -> None:
        if file == self._out:
            self._copy()
        elif file == self._wake:
            if any(number in _ENDING for number in os.read(self._wake, 4096)):
                self._is_over = True
            self._reap()
        else:
            orders = os.read(0, _READ_BYTES)
            self._orders += orders
            self._is_over = self._is_over or not orders
            self._obey()

    def _start(self) -> None:
        """Fork and run the command; what hinders it is reported with the step that failed."""
        told, tell = os.pipe()
        pid = os.fork()
        if pid == 0:
            become(self._spec, self._cgroup, self._into, tell)
        os.close(tell)
        os.close(self._into)
        self._first = pid
        failure = os.read(told, 4096)
        os.close(told)
        if failure:
            step, number = failure.decode().split()
            self._report(event="failed", step=step, errno=int(number))
            self._is_over = True
        else:
            self._report(
                event="started", pid=pid, cgroup=self._cgroup, without_cgroup=self._without_cgroup
            )

    def _obey(self) -> None:
        """Carry out the orders that are complete."""
        *lines, self._orders = self._orders.split(b"\n")
        for line in lines:
            word, *arguments = line.decode().split()
            if word == "end":
                self._is_over = True
            else:
                self._signal(int(arguments[0]), is_for_all="all" in arguments)

    def _signal(self, number: int, *, is_for_all: bool) -> None:
        """Signal by id; no id is another's, since whoever ended is reaped by nobody else."""
        if self._first is not None and not is_for_all:
            targets = [self._first]
        else:
            targets = descendants(os.getpid())
        for pid in targets:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def _copy(self, most: int = _READ_BYTES) -> None:
        """Move what was printed into the log, at most so many bytes."""
        while most > 0:
            try:
                content = os.read(self._out, _READ_BYTES)
            except BlockingIOError:
                return
            if not content:  # nobody can print any more, and poll() would say so without end
                with suppress(KeyError):
                    self._poller.unregister(self._out)
                return
            self._log.write(content)
            most -= len(content)

    def _reap(self) -> bool:
        """Bury who ended; whether anybody is left. The end of the first process is reported."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self._report(event="gone")
                return False
            if pid == 0:
                return True
            if pid == self._first:
                self._first = None
                self._copy(_DRAINED_BYTES)
                self._report(event="exited", code=os.waitstatus_to_exitcode(status))

    def _end(self) -> None:
        """Kill the tree until nobody is left, clean up, and say who was killed."""
        killed = self._kill_all()
        with suppress(OSError):
            self._copy(_DRAINED_BYTES)
        self._log.close()
        if self._cgroup is not None:
            cgroup.remove(self._cgroup)
        left = descendants(os.getpid())
        if not self._report(
            event="ended",
            killed=sorted(killed.items()),
            left=[[pid, command_of(pid)] for pid in left],
            dropped=self._log.dropped,
        ):
            _remove_tree(self._spec["scratch"])

    def _kill_all(self) -> dict[int, str]:
        """Kill until there is no child left: who forks while it is killed is found again."""
        killed: dict[int, str] = {}
        deadline = time.monotonic() + _KILLING_S
        while time.monotonic() < deadline:
            found = descendants(os.getpid())
            killed |= {pid: command_of(pid) for pid in found if pid not in killed}
            if found and self._cgroup is not None:
                cgroup.kill(self._cgroup)
            for pid in found:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            if not self._reap():
                break
            time.sleep(0.002)
        return killed

    def _report(self, **report: object) -> bool:
        """Tell torr; whether it is there to hear it."""
        line = json.dumps(report).encode() + b"\n"
        try:
            while line:
                line = line[os.write(1, line) :]
        except OSError:
            self._is_over = True
        return not line


def _cgroup(spec: dict[str, Any]) -> tuple[str | None, str | None]:
    """A group for the server, or why there is none."""
    try:
        return cgroup.made(f"torr-{spec['token']}"), None
    except OSError as error:
        return None, str(error)


def _first_line() -> tuple[bytes, bytes]:
    """The first line of stdin and what came with it; nothing when torr is gone already."""
    content = b""
    while b"\n" not in content:
        piece = os.read(0, _READ_BYTES)
        if not piece:
            return b"", b""
        content += piece
    line, _, rest = content.partition(b"\n")
    return line, rest


def _signals_as_bytes() -> int:
    """A descriptor that becomes readable when a child ends or somebody wants the watcher to end."""
    wake, woken = os.pipe()
    for end in (wake, woken):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, *_ENDING):
        signal.signal(number, lambda *_: None)
    return wake


def _remove_tree(folder: str) -> None:
    """Remove a folder that nobody else will; what cannot be removed stays."""
    for path, folders, files in os.walk(folder, topdown=False):
        for name in files:
            with suppress(OSError):
                os.unlink(os.path.join(path, name))
        for name in folders:
            with suppress(OSError):
                inside = os.path.join(path, name)
                os.unlink(inside) if os.path.islink(inside) else os.rmdir(inside)
    with suppress(OSError):
        os.rmdir(folder)
