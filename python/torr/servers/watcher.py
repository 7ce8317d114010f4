"""The watcher: a small process that is the parent of one server and ends with it or with torr.

    stdin   first a JSON object (what to start), then orders, a line each:
            signal NUMBER          to the server's first process, or to all if that has ended
            signal NUMBER all      to everything in the tree
            end                    kill and report what is left, and end
    stdout  reports, a JSON object a line: started | failed, exited, gone, ended

It has its own session and adopts the orphans of the server, so that processes which daemonize stay
in its tree. When stdin ends, however torr ended, it kills the tree and removes the scratch folder.
The server's output goes to a bounded log. `server.py` decides when to stop the server and judges
its exit code. The watcher imports little, to start fast.
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
from torr.servers.child import adopt_orphans, exec_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from torr.model.json import JsonObject

_KILLING_S = 5.0
_READ_BYTES = 1 << 16
_DRAINED_BYTES = 1 << 20
_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main() -> None:
    """Start the server of the spec and run orders until the end is requested."""
    wake = _signal_pipe()
    adopt_orphans()
    line, rest = _read_spec()
    if line:
        Watcher(json.loads(line), rest, wake).run()


class Watcher:
    """A server's tree, its log and the two pipes to torr."""

    def __init__(self, spec: JsonObject, orders: bytes, wake: int) -> None:
        self._spec = spec
        self._orders = orders
        self._wake = wake
        self._log = BoundedLog(spec["log"])
        self._first: int | None = None
        self._end_requested = False
        self._poller = select.poll()
        self._out, self._into = os.pipe()
        os.set_blocking(self._out, False)
        self._cgroup, self._without_cgroup = _create_cgroup(spec)

    def run(self) -> None:
        """Start the server and handle events until `end`, the end of stdin or a signal."""
        try:
            self._start()
            self._run_orders()
            for file in (0, self._out, self._wake):
                self._poller.register(file, select.POLLIN)
            while not self._end_requested:
                for file, _ in self._poller.poll():
                    self._dispatch(file)
        finally:
            self._end()

    def _dispatch(self, file: int) -> None:
        if file == self._out:
            self._copy_output()
        elif file == self._wake:
            if any(number in _ENDING for number in os.read(self._wake, 4096)):
                self._end_requested = True
            self._reap()
        else:
            orders = os.read(0, _READ_BYTES)
            self._orders += orders
            self._end_requested = self._end_requested or not orders
            self._run_orders()

    def _start(self) -> None:
        """Fork and execute the command; report the step that failed if it cannot be started."""
        error_reader, error_writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            exec_command(self._spec, self._cgroup, self._into, error_writer)
        os.close(error_writer)
        os.close(self._into)
        self._first = pid
        failure = os.read(error_reader, 4096)
        os.close(error_reader)
        if failure:
            step, number = failure.decode().split()
            self._report(event="failed", step=step, errno=int(number))
            self._end_requested = True
        else:
            self._report(
                event="started", pid=pid, cgroup=self._cgroup, without_cgroup=self._without_cgroup
            )

    def _run_orders(self) -> None:
        """Run the complete orders."""
        *lines, self._orders = self._orders.split(b"\n")
        for line in lines:
            word, *arguments = line.decode().split()
            if word == "end":
                self._end_requested = True
            else:
                self._signal(int(arguments[0]), is_for_all="all" in arguments)

    def _signal(self, number: int, *, is_for_all: bool) -> None:
        """Send a signal by pid; pids are not reused before this process reaps them."""
        if self._first is not None and not is_for_all:
            targets = [self._first]
        else:
            targets = descendants(os.getpid())
        for pid in targets:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def _copy_output(self, most: int = _READ_BYTES) -> None:
        """Move output of the server to the log, at most about `most` bytes."""
        while most > 0:
            try:
                content = os.read(self._out, _READ_BYTES)
            except BlockingIOError:
                return
            if not content:  # no writer is left; poll() would return at once from now on
                with suppress(KeyError):
                    self._poller.unregister(self._out)
                return
            self._log.write(content)
            most -= len(content)

    def _reap(self) -> bool:
        """Reap ended processes, report the end of the first; return whether any is left."""
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
                self._copy_output(_DRAINED_BYTES)
                self._report(event="exited", code=os.waitstatus_to_exitcode(status))

    def _end(self) -> None:
        """Kill the tree, clean up, and report the killed processes."""
        killed = self._kill_all()
        with suppress(OSError):
            self._copy_output(_DRAINED_BYTES)
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
            import shutil

            shutil.rmtree(self._spec["scratch"], ignore_errors=True)

    def _kill_all(self) -> dict[int, str]:
        """Kill until no child is left, since processes may fork meanwhile; return the commands."""
        killed: dict[int, str] = {}
        deadline = time.monotonic() + _KILLING_S
        while time.monotonic() < deadline:
            pids = descendants(os.getpid())
            killed |= {pid: command_of(pid) for pid in pids if pid not in killed}
            if pids and self._cgroup is not None:
                cgroup.kill(self._cgroup)
            for pid in pids:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            if not self._reap():
                break
            time.sleep(0.002)
        return killed

    def _report(self, **report: object) -> bool:
        """Send a report to torr; return whether torr still reads them."""
        line = json.dumps(report).encode() + b"\n"
        try:
            while line:
                line = line[os.write(1, line) :]
        except OSError:
            self._end_requested = True
        return not line


def _create_cgroup(spec: JsonObject) -> tuple[str | None, str | None]:
    """Return a control group for the server, or the reason why there is none."""
    try:
        return cgroup.create(f"torr-{spec['token']}"), None
    except OSError as error:
        return None, str(error)


def _read_spec() -> tuple[bytes, bytes]:
    """Return the first line of stdin and what was read after it; empty if torr has ended."""
    content = b""
    while b"\n" not in content:
        piece = os.read(0, _READ_BYTES)
        if not piece:
            return b"", b""
        content += piece
    line, _, rest = content.partition(b"\n")
    return line, rest


def _signal_pipe() -> int:
    """Return a descriptor that becomes readable when a child ends or a signal asks to end."""
    wake, woken = os.pipe()
    for end in (wake, woken):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, *_ENDING):
        signal.signal(number, lambda *_: None)
    return wake
