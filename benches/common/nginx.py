"""nginx as a target: one worker on its own core, small and large responses, a count, no log.

One cipher is allowed over TLS, so that all clients speak the same.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

CONFIG = """
worker_processes 1; daemon off; worker_rlimit_nofile 20000;
pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 19000; }}
http {{
  access_log off; keepalive_requests 1000000000; keepalive_timeout 300s; sendfile on;
  client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  ssl_certificate {folder}/own.pem; ssl_certificate_key {folder}/own.key;
  ssl_protocols TLSv1.3; ssl_session_cache shared:own:1m;
  ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    listen 127.0.0.1:{secure_port} ssl backlog=4096;
    tcp_nopush on;
    include {folder}/locations;
  }}
  # Over HTTP/2, nginx sends the end of a file in a packet of its own. With sendfile, the kernel
  # keeps it back for 40 ms, until the client has confirmed the rest.
  server {{
    sendfile off;
    listen 127.0.0.1:{http2_port} http2 backlog=4096;
    listen 127.0.0.1:{secure_http2_port} ssl http2 backlog=4096;
    include {folder}/locations;
  }}
}}
"""

LOCATIONS = """
location = /small {{ default_type application/json; return 200 '{{"status":"ok"}}'; }}
location = /status {{ stub_status; }}
location /hello/ {{ default_type text/plain; return 200 'hello world'; }}
location / {{ root {folder}/www; default_type application/octet-stream; }}
"""


class Nginx:
    """A running nginx; use it as a context."""

    def __init__(self, core: int) -> None:
        self.core = core
        self.port = free_port()
        self.secure_port = free_port()
        self.http2_port = free_port()
        self.secure_http2_port = free_port()
        self.asked = 0
        self.folder = Path(tempfile.mkdtemp(prefix="torr-nginx-"))
        # Its worker drops root and must still read the files.
        self.folder.chmod(0o755)

    def __enter__(self) -> Self:
        www = self.folder / "www"
        www.mkdir()
        for name, size in (("16k", 16_384), ("64k", 65_536)):
            (www / name).write_bytes(bytes(size))
        sign(self.folder)
        config = self.folder / "nginx.conf"
        ports = {
            "port": self.port,
            "secure_port": self.secure_port,
            "http2_port": self.http2_port,
            "secure_http2_port": self.secure_http2_port,
        }
        (self.folder / "locations").write_text(LOCATIONS.format(folder=self.folder))
        config.write_text(CONFIG.format(folder=self.folder, **ports))
        core = self.core
        pinned: dict[str, Any] = {"preexec_fn": lambda: os.sched_setaffinity(0, {core})}
        program = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
        self.process = subprocess.Popen(
            [program or "nginx", "-c", str(config)], stderr=subprocess.DEVNULL, **pinned
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

    def secure_url(self, path: str) -> str:
        """The same over TLS."""
        return f"https://127.0.0.1:{self.secure_port}{path}"

    def http2_url(self, path: str, *, secure: bool = False) -> str:
        """The address of an answer over HTTP/2, which is known to be spoken there."""
        scheme, port = ("https", self.secure_http2_port) if secure else ("http", self.http2_port)
        return f"{scheme}://127.0.0.1:{port}{path}"

    def served(self) -> int:
        """Requests that it has answered so far, those for this count left out."""
        with urllib.request.urlopen(self.url("/status"), timeout=10) as answer:  # noqa: S310
            lines = answer.read().decode().splitlines()
        self.asked += 1
        return int(lines[2].split()[2]) - self.asked

    def cpu_s(self) -> float:
        """Processor time of its worker so far, in seconds."""
        children = (
            Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        )
        fields = [Path(f"/proc/{child}/schedstat").read_text().split() for child in children]
        return sum(int(one[0]) for one in fields) / 1e9


def sign(folder: Path) -> None:
    """Makes a certificate that signs itself; nobody checks it here."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    files = ("-keyout", "own.key", "-out", "own.pem")
    command = ["openssl", "req", "-x509", *key, *files, "-subj", "/CN=127.0.0.1", "-days", "2"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def free_port() -> int:
    """A port that nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(port: int) -> None:
    """Waits until somebody listens, ten seconds at most."""
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    message = f"nothing listens on port {port}"
    raise TimeoutError(message)
