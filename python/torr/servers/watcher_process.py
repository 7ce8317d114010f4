"""The pipes between torr and the watcher of one server: orders go down, reports come up.

It waits no longer than it is told to. When this process ends, however it ends, its end of the
pipe closes and the watcher kills the server.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from torr.children import light

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_LIFE = "from torr.servers.watcher import main; main()"
_CLOSING_S = 10.0

Report = dict[str, Any]


class WatcherProcess:
    """A running watcher; `is_over` once it has said its last."""

    def __init__(self, spec: Mapping[str, Any], log: Path) -> None:
        """Start the watcher, and have it start the server; raises OSError."""
        with log.open("ab") as complaints:
            self._process = subprocess.Popen(
                light(_LIFE),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
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
        """The watcher's own process."""
        return self._process.pid

    def order(self, text: str) -> None:
        """Send an order; a watcher that is gone takes none, which its reports tell."""
        with suppress(OSError, ValueError):
            self._send(text)

    def reports(self, timeout_s: float) -> list[Report]:
        """What it reported, waiting at most so long for the first."""
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
