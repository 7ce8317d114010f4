"""How long a command takes from its start to the first byte that it sends."""

from __future__ import annotations

import socket
import subprocess
import time

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def seconds_to_first_byte(words: list[str]) -> float:
    """Starts the command, `{url}` replaced by a waiting socket's; seconds until a byte comes."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        command = [word.replace("{url}", url) for word in words]
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        connection, _ = server.accept()
        connection.recv(1)
        elapsed = time.perf_counter() - started
        with connection:
            connection.recv(65536)
            connection.sendall(ANSWER)
            process.wait(30)
    return elapsed
