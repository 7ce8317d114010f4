"""A process that has imported what its commands need, and forks one process per command."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys

TIMEOUT_S = 120


class WarmProcess:
    """Runs a script that reads requests in JSON, and answers each with an exit code.

    A process that has not answered in time, or has ended, is replaced at the next request: its
    late response would be taken for that of the next one.
    """

    def __init__(self, script, **environment):
        self._script = script
        self._environment = environment
        self._process = None

    def run(self, request, output):
        """Send a request, and return the exit code; the file `output` explains a failure."""
        process = self._process = self._process or self._started()
        try:
            process.stdin.write(f"{json.dumps(request)}\n")
            process.stdin.flush()
            ready, _, _ = select.select([process.stdout], [], [], TIMEOUT_S)
            assert ready, f"the command had not ended after {TIMEOUT_S} s: {output.read_text()}"
            return int(process.stdout.readline())
        except BaseException:
            self.close()
            raise

    def close(self):
        """Kill the process, and a command that has not ended."""
        process, self._process = self._process, None
        if process is not None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def _started(self):
        return subprocess.Popen(
            [sys.executable, self._script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **self._environment},
            start_new_session=True,
        )
