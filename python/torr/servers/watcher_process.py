"""Start the watcher of one server, send it orders and read its reports.

When this process ends, however it ends, its end of the pipe closes and the watcher kills the
server.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from torr.children import minimal_python

if TYPE_CHECKING:
    from pathlib import Path

    from torr.model.json import JsonObject

_CODE = "from torr.servers.watcher import main; main()"
_CLOSING_S = 10.0


class WatcherProcess:
    """A running watcher; `is_over` is true once its last report was read."""

    def __init__(self, spec: JsonObject, log: Path) -> None:
        """Start the watcher, which starts the server; raise OSError if it cannot be started."""
        with log.open("ab") as stderr:
            self._process = subprocess.Popen(
                minimal_python(_CODE),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                bufsize=0,
                start_new_session=True,  # Ctrl-C is for torr, which stops the server in order
            )
        self._partial = b""
        self.is_over = False
        try:
            self._send(json.dumps(spec))
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """Return the pid of the watcher."""
        return self._process.pid

    def order(self, text: str) -> None:
        """Send an order; it is lost if the watcher has ended, which `reports` notices."""
        with suppress(OSError, ValueError):
            self._send(text)

    def reports(self, timeout_s: float) -> list[JsonObject]:
        """Return the reports since the last call; wait at most `timeout_s` for the first."""
        pipe = self._process.stdout
        if self.is_over or pipe is None:
            time.sleep(min(max(timeout_s, 0), 0.1))
            return []
        ready, _, _ = select.select([pipe], [], [], max(timeout_s, 0))
        if not ready:
            return []
        content = os.read(pipe.fileno(), 1 << 16)
        self.is_over = not content
        *lines, self._partial = (self._partial + content).split(b"\n")
        return [json.loads(line) for line in lines]

    def close(self) -> None:
        """Close the pipes, which ends the watcher, and wait until it has ended."""
        self.is_over = True
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        try:
            self._process.wait(_CLOSING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _send(self, text: str) -> None:
        pipe = self._process.stdin
        if pipe is None:
            raise OSError("the watcher has no stdin")
        line = memoryview(text.encode() + b"\n")
        while line:
            line = line[pipe.write(line) :]
