"""A process that has imported what its commands need, and forks one process per command."""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

TIMEOUT_S = 120
PR_SET_CHILD_SUBREAPER = 36


class WarmProcess:
    """Runs a script that reads requests in JSON, and answers each with a number.

    A process that has not answered in time, or has ended, is replaced at the next request: its
    late response would be taken for that of the next one.
    """

    def __init__(self, script, **environment):
        self._script = script
        self._environment = environment
        self._process = None

    def run(self, request, output):
        """Send a request, and return the exit code; the file `output` explains a failure."""
        return self._answer(
            request, lambda: f"the command had not ended after {TIMEOUT_S} s: {output.read_text()}"
        )

    def start(self, request):
        """Send a request, and return the command, which runs as a child of this process."""
        (out, to_out), (err, to_err) = os.pipe(), os.pipe()
        # The command opens them before the response comes.
        files = {"out": file_of(to_out), "err": file_of(to_err)}
        try:
            with adopting():
                pid = self._answer({**request, **files, "parent": os.getpid()}, "not started")
        finally:
            os.close(to_out)
            os.close(to_err)
        return Forked(pid, os.fdopen(out, encoding="utf-8"), os.fdopen(err, encoding="utf-8"))

    def close(self):
        """Kill the process, and a command that has not ended."""
        process, self._process = self._process, None
        if process is not None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def _answer(self, request, failure):
        process = self._process = self._process or self._started()
        try:
            process.stdin.write(f"{json.dumps(request)}\n")
            process.stdin.flush()
            ready, _, _ = select.select([process.stdout], [], [], TIMEOUT_S)
            assert ready, failure() if callable(failure) else failure
            return int(process.stdout.readline())
        except BaseException:
            self.close()
            raise

    def _started(self):
        # The script imports `leave`.
        path = os.pathsep.join(filter(None, [str(Path(__file__).parent), os.getenv("PYTHONPATH")]))
        return subprocess.Popen(
            [sys.executable, self._script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **self._environment, "PYTHONPATH": path},
            start_new_session=True,
        )


class Forked:
    """A running command with what tests use of `subprocess.Popen`."""

    def __init__(self, pid, stdout, stderr):
        self.pid = pid
        self.returncode = None
        self.stdout = stdout
        self.stderr = stderr
        self._rest = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stdout.close()
        self.stderr.close()
        self.wait()

    def poll(self):
        """Return the exit code, or None while it runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout=None):
        """Wait until it ends; return the exit code."""
        if self.poll() is None:
            descriptor = os.pidfd_open(self.pid)
            try:
                ended, _, _ = select.select([descriptor], [], [], timeout)
            finally:
                os.close(descriptor)
            if not ended:
                raise subprocess.TimeoutExpired("torr", timeout)
        return self.poll()

    def communicate(self, timeout=None):
        """Wait until it ends; return the rest of its output."""
        if self._rest is None:
            threads = ThreadPoolExecutor()
            self._rest = [threads.submit(each.read) for each in (self.stdout, self.stderr)]
            threads.shutdown(wait=False)
        try:
            out, err = (each.result(timeout) for each in self._rest)
        except TimeoutError as error:
            raise subprocess.TimeoutExpired("torr", timeout) from error
        self.wait(timeout)
        return out, err

    def send_signal(self, number):
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self):
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self):
        """End it."""
        self.send_signal(signal.SIGKILL)


@contextmanager
def adopting():
    """Become the parent of processes whose parent ends meanwhile."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    assert prctl(PR_SET_CHILD_SUBREAPER, 1) == 0
    try:
        yield
    finally:
        prctl(PR_SET_CHILD_SUBREAPER, 0)


def file_of(descriptor):
    """Return a path by which another process opens a pipe of this one."""
    return f"/proc/{os.getpid()}/fd/{descriptor}"


def leave(code):
    """End this process as Python does, but do not free its objects.

    Freeing copies the memory that this process shares with its parent, which takes as long as all
    else that a short load computes.
    """
    threading._shutdown()  # waits for threads
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
