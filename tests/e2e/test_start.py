"""How long a person waits: for help, and for the first request."""

from __future__ import annotations

import socket
import subprocess
import time

from installed import TORR

TRIES = 3


def test_help_is_there_within_300_ms():
    def once():
        before = time.monotonic()
        subprocess.run([TORR, "--help"], check=True, capture_output=True)
        return time.monotonic() - before

    assert min(once() for _ in range(TRIES)) <= 0.3


def test_the_first_request_is_sent_within_600_ms(tmp_path):
    def once():
        with socket.create_server(("127.0.0.1", 0)) as listener:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
            before = time.monotonic()
            process = subprocess.Popen(
                [TORR, "run", "-c", "1", "--timeout", "1s", url],
                cwd=tmp_path,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            with process:
                connection, _ = listener.accept()
                with connection:
                    assert connection.recv(4).startswith(b"GET ")
                    took = time.monotonic() - before
                process.kill()
        return took

    assert min(once() for _ in range(TRIES)) <= 0.6
