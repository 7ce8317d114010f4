"""A PostgreSQL server for tests: on a Unix socket, run by an unprivileged user."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg

from installed import wait_until

USER = "torr"
# Debian installs each version into a folder of its own, which is not in PATH.
PLACES = [os.environ["PATH"], *map(str, Path("/usr/lib/postgresql").glob("*/bin"))]


@contextmanager
def server():
    """Start a server, and yield an object that makes databases in it."""
    with TemporaryDirectory(prefix="torr-pg-") as folder:
        user = _unprivileged(folder)
        data = f"{folder}/data"
        made = ("-D", data, "-U", USER, "-A", "trust", "--no-sync", "-E", "UTF8", "--no-locale")
        make = [_program("initdb"), *made]
        subprocess.run(make, check=True, capture_output=True, cwd=folder, **user)
        quick = ("-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=40")
        # Tests compare the processes below them at two moments.
        quick += ("-c", "autovacuum=off")
        with Path(folder, "log").open("wb") as log:
            running = subprocess.Popen(
                [_program("postgres"), "-D", data, "-k", folder, *quick],
                stdout=log,
                stderr=log,
                cwd=folder,
                **user,
            )
        try:
            _wait(running, folder)
            yield Databases(folder)
        finally:
            # SIGINT: a fast shutdown, which does not wait for clients to disconnect.
            running.send_signal(signal.SIGINT)
            running.wait(timeout=30)


class Databases:
    """Makes databases in the server whose socket is in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.count = 0

    def make(self):
        """Make an empty database, and return its URL for TORR_STORE."""
        self.count += 1
        name = f"kept_{self.count}"
        with _connected(self.folder, "postgres") as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"postgresql+psycopg://{USER}@/{name}?host={self.folder}"


def _program(name):
    program = shutil.which(name, path=os.pathsep.join(PLACES))
    assert program, f"{name} is missing: scripts/test-deps.sh full installs it"
    return program


def _unprivileged(folder):
    """Return the user to run as, in keywords of Popen: PostgreSQL does not run as root."""
    if os.getuid() != 0:
        return {}
    shutil.chown(folder, "nobody")
    return {"user": "nobody"}


def _connected(folder, database):
    return psycopg.connect(host=folder, user=USER, dbname=database, autocommit=True)


def _wait(running, folder):
    """Wait until the server answers; fail with its log if it ends."""

    def answers():
        assert running.poll() is None, Path(folder, "log").read_text()
        with suppress(psycopg.OperationalError):
            _connected(folder, "postgres").close()
            return True
        return False

    wait_until(answers)
