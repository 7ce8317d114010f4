"""A PostgreSQL of Debian's package for tests: on a Unix socket, under a user without rights."""

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
# Debian keeps them off the PATH, a folder a version.
PLACES = [os.environ["PATH"], *map(str, Path("/usr/lib/postgresql").glob("*/bin"))]


@contextmanager
def server():
    """Start one; gives a function that makes an empty database and returns its URL."""
    with TemporaryDirectory(prefix="torr-pg-") as folder:
        who = _unprivileged(folder)
        data = f"{folder}/data"
        made = ("-D", data, "-U", USER, "-A", "trust", "--no-sync", "-E", "UTF8", "--no-locale")
        make = [_program("initdb"), *made]
        subprocess.run(make, check=True, capture_output=True, cwd=folder, **who)
        quick = ("-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=40")
        with Path(folder, "log").open("wb") as log:
            running = subprocess.Popen(
                [_program("postgres"), "-D", data, "-k", folder, *quick],
                stdout=log,
                stderr=log,
                cwd=folder,
                **who,
            )
        try:
            _wait(running, folder)
            yield Databases(folder)
        finally:
            # Without waiting for anybody who is still connected.
            running.send_signal(signal.SIGINT)
            running.wait(timeout=30)


class Databases:
    """Makes databases in the server whose socket lies in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.count = 0

    def make(self):
        """A new one; the URL that TORR_STORE takes."""
        self.count += 1
        name = f"kept_{self.count}"
        with _connected(self.folder, "postgres") as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"postgresql+psycopg://{USER}@/{name}?host={self.folder}"


def _program(name):
    found = shutil.which(name, path=os.pathsep.join(PLACES))
    assert found, f"{name} is missing: scripts/test-deps.sh installs it"
    return found


def _unprivileged(folder):
    """Who runs it: PostgreSQL refuses to be root's."""
    if os.getuid() != 0:
        return {}
    shutil.chown(folder, "nobody")
    return {"user": "nobody"}


def _connected(folder, database):
    return psycopg.connect(host=folder, user=USER, dbname=database, autocommit=True)


def _wait(running, folder):
    """Until it answers; what it wrote if it does not."""

    def answers():
        assert running.poll() is None, Path(folder, "log").read_text()
        with suppress(psycopg.OperationalError):
            _connected(folder, "postgres").close()
            return True
        return False

    wait_until(answers)
