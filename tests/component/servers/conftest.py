"""Servers of a test: written, started, and gone when it ends."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack

import pytest

from programs import program
from torr.servers.command import Command
from torr.servers.reservation import reserve
from torr.servers.server import Server


@pytest.fixture
def here():
    """A port and a scratch folder."""
    with reserve() as found:
        yield found


@pytest.fixture
def command(here, tmp_path):
    """The filled command that runs one of the programs in a folder of its own."""

    def made(code, *words, **settings):
        folder = tmp_path / "apps"
        folder.mkdir(exist_ok=True)
        (tmp_path / "app.py").write_text(program(code))
        values = {**here.values, "processes": settings.pop("processes", 1)}
        default = {
            "argv": (sys.executable, "-I", "-S", "-B", str(tmp_path / "app.py"), "{port}", *words),
            "url": "http://127.0.0.1:{port}/",
            "name": "app",
            "cwd": folder,
            "grace_s": 5.0,
        }
        return Command(**{**default, **settings}).filled(values)

    return made


@pytest.fixture
def no_umask():
    """Take no permission away from files that are made."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def short_stay(monkeypatch):
    """Give children that outlive their server a moment, not a second: they stay in any case."""
    monkeypatch.setattr("torr.servers.server._REMAINDER_S", 0.05)


@pytest.fixture
def start(here, command, tmp_path):
    """Start one of the programs."""
    with ExitStack() as running:

        def started(code, *words, **settings):
            log = tmp_path / "logs" / "server.log"
            server = Server.start(command(code, *words, **settings), here.scratch, log)
            return running.enter_context(server)

        yield started
