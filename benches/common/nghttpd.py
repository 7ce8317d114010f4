"""nghttpd as a target: an HTTP/2 server of nghttp2, on its own core. It does not count requests."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common.nginx import free_port, wait_for

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self


class Nghttpd:
    """A running nghttpd; use it as a context."""

    def __init__(self, core: int) -> None:
        self.core = core
        self.port = free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="torr-nghttpd-"))

    def __enter__(self) -> Self:
        (self.folder / "small").write_text('{"status":"ok"}')
        program = shutil.which("nghttpd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
        core = self.core
        pinned: dict[str, Any] = {"preexec_fn": lambda: os.sched_setaffinity(0, {core})}
        self.process = subprocess.Popen(
            [program or "nghttpd", "--no-tls", "-d", str(self.folder), str(self.port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **pinned,
        )
        wait_for(self.port)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.terminate()
        self.process.wait(10)
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, path: str) -> str:
        """The address of an answer."""
        return f"http://127.0.0.1:{self.port}{path}"

    def served(self) -> int:
        """It does not count requests."""
        return 0

    def cpu_s(self) -> float:
        """Processor time so far, in seconds."""
        return int(Path(f"/proc/{self.process.pid}/schedstat").read_text().split()[0]) / 1e9
