"""HTTP/2 servers of others, on ports of loopback, and what each of them counts.

Each server is a context manager: it takes a `Site`, yields the URL of the server, and writes into
the site, at the end of the block, how many responses of each class of statuses the server says that
it has sent. All answer `/` with 200 and other paths with 404, but torr's target, which answers 200.
"""

from __future__ import annotations

import csv
import json
import os
import pwd
import shutil
import socket
import subprocess
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from authority import Nginx
from installed import TORR, free_port, is_open, wait_until

SOURCES = Path(__file__).with_name("full") / "http2/servers"
REMEDIES = {"go": "install Go 1.26 or newer", "node": "install Node 18.18 or newer"}

_H2O = """
user: {user}
num-threads: 1
listen:
  host: 127.0.0.1
  port: {port}
  {tls}
error-log: {folder}/error.log
access-log: {{path: {folder}/access.log, format: "%s"}}
hosts: {{default: {{paths: {{/: {{file.dir: {folder}/www}}}}}}}}
"""

_HAPROXY = """
global
  nbthread 1
  stats socket {folder}/statistics
defaults
  mode http
  timeout client 60s
  timeout connect 60s
  timeout server 60s
frontend answers
  bind 127.0.0.1:{port} {protocol}
  http-request return status 200 content-type text/plain string hello if {{ path / }}
  http-request return status 404
"""


@dataclass
class Site:
    """Where a server runs: its folder, its port, and the certificate that it has over TLS."""

    folder: Path
    certificate: Path
    is_secure: bool
    port: int = field(default_factory=free_port)
    answered: Counter[str] = field(default_factory=Counter)

    @property
    def key(self):
        return self.certificate.with_suffix(".key")

    @property
    def files(self):
        """Return the certificate and its key, or nothing without TLS."""
        return [self.certificate, self.key] if self.is_secure else []

    @property
    def output(self):
        return self.folder / "output.txt"

    def make_page(self):
        """Make a folder with one page, and return it."""
        folder = self.folder / "www"
        folder.mkdir()
        (folder / "index.html").write_text("hello")
        return folder

    @contextmanager
    def running(self, program, *arguments, output=None):
        """Run a program until the block ends, and yield its URL; its output goes to a file."""
        command = [_found(program), *map(str, arguments)]
        with self.output.open("wb") as file:
            process = subprocess.Popen(command, stdout=output or file)
        with _ended(process):
            wait_until(lambda: process.poll() is not None or is_open(self.port))
            assert process.poll() is None, f"{program} has ended"
            yield f"{'https' if self.is_secure else 'http'}://127.0.0.1:{self.port}/"

    def count_lines(self, path, column=0):
        """Take the counts from a file that has a status, or its first digit, in each line."""
        with path.open() as lines:
            self.answered = Counter(f"{line[column]}xx" for line in lines)


@contextmanager
def nginx(site, limits=""):
    """Serve with nginx, whose access log has the status of each response."""
    server = Nginx(site.folder)
    listen = "ssl http2" if site.is_secure else "http2"
    more = f"{limits} location /missing {{ return 404; }}"
    server.serve("it", site.certificate.parent, more, listen, site.certificate.stem)
    with _ended(server.start()):
        yield server.url("it", host="127.0.0.1")
    site.count_lines(server.log)


@contextmanager
def nghttpd(site, *options, output=None):
    """Serve with nghttpd, which does not count."""
    options = ["--no-tls", "-d", site.make_page(), *options, site.port]
    with site.running("nghttpd", *options, output=output) as url:
        yield url


@contextmanager
def printing_nghttpd(site):
    """Serve with nghttpd that prints 20 lines per request, of which `grep` keeps the status."""
    statuses = site.folder / "statuses.txt"
    pattern = ["grep", "--text", "--only-matching", ":status: ."]
    with (
        statuses.open("wb") as kept,
        subprocess.Popen(pattern, stdin=subprocess.PIPE, stdout=kept) as keeping,
        nghttpd(site, "-v", output=keeping.stdin) as url,
    ):
        yield url
    site.count_lines(statuses, column=-2)


@contextmanager
def go(site, streams=0):
    """Serve with net/http of Go, which counts in its handler, and allows so many streams."""
    program = site.folder / "http2server"
    build = [_found("go"), "build", "-o", program, "."]
    subprocess.run(build, cwd=SOURCES, env={**os.environ, "GOTOOLCHAIN": "local"}, check=True)
    options = ["--address", f"127.0.0.1:{site.port}", "--streams", streams]
    if site.is_secure:
        options += ["--certificate", site.certificate, "--key", site.key]
    with site.running(program, *options) as url:
        yield url
    site.answered = Counter(json.loads(site.output.read_text()))


@contextmanager
def node(site):
    """Serve with the module http2 of Node, which counts in its handler."""
    with site.running("node", SOURCES / "server.js", site.port, *site.files) as url:
        yield url
    site.answered = Counter(json.loads(site.output.read_text()))


@contextmanager
def h2o(site):
    """Serve with h2o, whose access log has the status of each response."""
    site.make_page()
    files = f"{{certificate-file: {site.certificate}, key-file: {site.key}}}"
    tls = f"ssl: {files}" if site.is_secure else ""
    user = pwd.getpwuid(os.getuid()).pw_name
    config = site.folder / "h2o.yaml"
    config.write_text(_H2O.format(user=user, port=site.port, folder=site.folder, tls=tls))
    with site.running("h2o", "-c", config) as url:
        yield url
    site.count_lines(site.folder / "access.log")


@contextmanager
def haproxy(site):
    """Serve with HAProxy, whose socket of statistics has the responses by class."""
    both = site.folder / "both.pem"
    both.write_text(site.certificate.read_text() + site.key.read_text())
    protocol = f"ssl crt {both} alpn h2" if site.is_secure else "proto h2"
    config = site.folder / "haproxy.cfg"
    # The path of a socket has 97 bytes at most.
    with TemporaryDirectory() as folder:
        config.write_text(_HAPROXY.format(folder=folder, port=site.port, protocol=protocol))
        with site.running("haproxy", "-f", config) as url:
            yield url
            site.answered = _statistics(Path(folder) / "statistics")


@contextmanager
def hyper(site):
    """Serve with torr's target `hello`, which is built on hyper."""
    with site.running(TORR, "target", "hello", "--port", site.port) as url:
        yield url
    counts = json.loads(site.output.read_text().splitlines()[-1])
    site.answered = Counter({"2xx": counts["answered"]})


def _found(program):
    """Return the path of a program; Debian has servers in folders that PATH may not contain."""
    remedy = REMEDIES.get(program, "scripts/test-deps.sh full installs it")
    path = shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    assert path, f"{program} is missing: {remedy}"
    return path


@contextmanager
def _ended(process):
    """End a process after the block."""
    try:
        yield
    finally:
        process.terminate()
        process.wait(60)


def _statistics(path):
    """Return the responses that the frontend of HAProxy has sent, by class."""
    with socket.socket(socket.AF_UNIX) as asking:
        asking.connect(str(path))
        asking.sendall(b"show stat\n")
        with asking.makefile() as text:
            rows = list(csv.DictReader(text))
    row = next(row for row in rows if row["svname"] == "FRONTEND")
    return Counter({f"{digit}xx": int(row[f"hrsp_{digit}xx"]) for digit in range(1, 6)})
