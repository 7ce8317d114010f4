"""A certificate authority for a test, and an nginx that serves with its certificates."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path

from installed import free_port, wait_until

NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")

_CA = """
[ca]
default_ca = made
[made]
dir = {folder}
database = {folder}/index.txt
serial = {folder}/serial
new_certs_dir = {folder}
certificate = {folder}/ca.pem
private_key = {folder}/ca.key
default_md = sha256
policy = anything
copy_extensions = copy
unique_subject = no
[anything]
commonName = supplied
"""

_SERVER = """
  server {{
    listen 127.0.0.1:{port} {listen};
    ssl_certificate {folder}/{certificate}.pem;
    ssl_certificate_key {folder}/{certificate}.key;
    {more}
    location / {{ return 200 'hello'; }}
    location /large {{ root {folder}; }}
  }}
"""

_NGINX = """
daemon off;
user root;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
  log_format truth '$status $ssl_session_reused $ssl_protocol $connection';
  access_log {folder}/access.log truth;
  ssl_session_cache shared:s:1m;
  ssl_protocols TLSv1.2 TLSv1.3;
  keepalive_requests 1000000000;
  client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{ listen 127.0.0.1:{marks}; return 204; }}
  {servers}
}}
"""


@dataclass
class Authority:
    """Signs certificates for names, valid between two dates of the form `20200101000000Z`."""

    folder: Path

    def __post_init__(self):
        self.folder.mkdir(exist_ok=True)
        (self.folder / "ca.cnf").write_text(_CA.format(folder=self.folder))
        (self.folder / "index.txt").touch()
        (self.folder / "serial").write_text("01\n")
        self._key("ca")
        self._run(
            *(
                "req",
                "-x509",
                "-key",
                "ca.key",
                "-subj",
                f"/CN=the {self.folder.name} of a test",
                "-days",
                "30",
            ),
            *("-out", "ca.pem"),
        )

    @property
    def certificate(self):
        return self.folder / "ca.pem"

    def sign(self, name, places="DNS:localhost,IP:127.0.0.1", begin=None, end=None, more=()):
        """Make NAME.pem and NAME.key for these places."""
        self._key(name)
        extensions = (f"subjectAltName={places}", *more)
        self._run(
            *("req", "-new", "-key", f"{name}.key", "-subj", f"/CN={name}"),
            *(word for line in extensions for word in ("-addext", line)),
            *("-out", f"{name}.csr"),
        )
        dates = [] if begin is None else ["-startdate", begin]
        dates += ["-days", "30"] if end is None else ["-enddate", end]
        own = ["-selfsign", "-keyfile", f"{name}.key"] if more else []
        self._run(
            *("ca", "-batch", "-notext", "-config", "ca.cnf", *own),
            *("-in", f"{name}.csr", "-out", f"{name}.pem", *dates),
        )

    def self_sign(self, name, **more):
        """Make NAME.pem and NAME.key as `openssl req -x509` does: signed by itself, CA:TRUE."""
        self.sign(name, **more, more=["basicConstraints=critical,CA:TRUE"])

    def _key(self, name):
        self._run(
            *("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-out", f"{name}.key"),
        )

    def _run(self, *words):
        subprocess.run(["openssl", *words], cwd=self.folder, check=True, capture_output=True)


@dataclass
class Nginx:
    """One nginx, with a server for each certificate."""

    folder: Path
    ports: dict[str, int] = field(default_factory=dict)
    plain: set[str] = field(default_factory=set)
    servers: list[str] = field(default_factory=list)
    marks: int = field(default_factory=free_port)

    def serve(self, name, folder=None, more="", listen="ssl", certificate=None):
        """Add a server with a certificate of an authority's folder, that of its name."""
        port = self.ports[name] = free_port()
        if "ssl" not in listen:
            self.plain.add(name)
        parts = {"port": port, "listen": listen, "more": more}
        certificate, place = certificate or name, folder or self.folder
        self.servers.append(_SERVER.format(certificate=certificate, folder=place, **parts))

    def start(self):
        assert NGINX is not None, "nginx is missing: scripts/test-deps.sh installs it"
        config = self.folder / "nginx.conf"
        servers = "".join(self.servers)
        config.write_text(_NGINX.format(folder=self.folder, servers=servers, marks=self.marks))
        process = subprocess.Popen([NGINX, "-c", config], stderr=subprocess.DEVNULL)
        wait_until(lambda: all(map(_is_open, [self.marks, *self.ports.values()])))
        assert process.poll() is None, "nginx has ended: another process has one of its ports"
        self.log.write_text("")
        return process

    @property
    def log(self):
        return self.folder / "access.log"

    def requests(self):
        """Return the log lines: status, whether the session was reused, version, connection.

        nginx writes a line after it has sent the response. One more request marks the end: its line
        comes after all others, because one process serves all requests.
        """
        with closing(HTTPConnection("127.0.0.1", self.marks)) as connection:
            connection.request("GET", "/")
            assert connection.getresponse().status == 204
        wait_until(lambda: self.log.read_text().endswith("\n") and self._lines()[-1][0] == "204")
        return [line for line in self._lines() if line[0] != "204"]

    def _lines(self):
        return [line.split() for line in self.log.read_text().splitlines()]

    def url(self, name, host="localhost", path="/"):
        scheme = "http" if name in self.plain else "https"
        return f"{scheme}://{host}:{self.ports[name]}{path}"


def _is_open(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
