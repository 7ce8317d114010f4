"""pytest over a file of tests that measure: forked from a process that is warm, or as installed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

from torr.store.level_lines import recover
from warm_process import TIMEOUT_S, WarmProcess

FORK_SERVER = Path(__file__).with_name("fork_server.py")
OPTIONS = ("-p", "no:cacheprovider")
# Plugins that are not torr's cost half a second each time.
ALONE = ("-p", "torr.plugin")


@dataclass
class Ended:
    """How a pytest ended and what it said."""

    code: int
    out: str
    folder: Path

    @property
    def counts(self):
        """How many tests passed, failed, or had an error."""
        last = self.out.strip().splitlines()[-1]
        return {word: int(n) for n, word in re.findall(r"(\d+) (\w+)", last)}

    @property
    def kept(self):
        """The directory of the run that was kept."""
        return (self.folder / "_output/torr/latest").resolve()

    @property
    def result(self):
        """The run that was kept."""
        return json.loads(recover(self.kept).read_text())


class Sessions:
    """Sessions of pytest, each in a process that is forked from a warm one."""

    def __init__(self):
        self._warm = WarmProcess(FORK_SERVER, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")

    def run(self, folder, source, *arguments):
        """Run pytest over a source, in a directory and with a store of its own."""
        output = folder / "terminal.txt"
        request = {
            "folder": str(folder),
            "arguments": [*OPTIONS, *ALONE, *map(str, arguments), written(folder, source)],
            "environment": environment(folder),
            "output": str(output),
        }
        code = self._warm.run(request, output)
        return Ended(code, output.read_text(), folder)

    def close(self):
        """End the warm process, and a session that has not ended."""
        self._warm.close()


def written(folder, source):
    """Write the tests of a session into its folder."""
    (folder / "test_it.py").write_text(dedent(source))
    return "test_it.py"


def environment(folder):
    """What differs from this process's environment."""
    return {"TORR_STORE": f"sqlite:///{folder}/runs.db", "COLUMNS": "160"}


@pytest.fixture(scope="session")
def sessions():
    """Run sessions of pytest in folders that the caller gives."""
    opened = Sessions()
    yield opened
    opened.close()


@pytest.fixture
def pytests(sessions, tmp_path):
    """Run pytest over a source, in a directory and with a store of its own."""
    return lambda source, *arguments: sessions.run(tmp_path, source, *arguments)


@pytest.fixture(scope="module")
def module_folder(tmp_path_factory):
    """A folder for a session that several tests look at."""
    return tmp_path_factory.mktemp("session")


@pytest.fixture
def installed_pytest(tmp_path):
    """Run pytest as a user does, who has not named torr's plugin: pytest finds it by itself."""

    def run(source, *arguments):
        command = (*OPTIONS, "-p", "no:hypothesispytest", *arguments, written(tmp_path, source))
        ended = subprocess.run(
            [sys.executable, "-m", "pytest", *map(str, command)],
            cwd=tmp_path,
            env={**os.environ, **environment(tmp_path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        return Ended(ended.returncode, ended.stdout, tmp_path)

    return run


@pytest.fixture
def torr(monkeypatch, tmp_path, capsys):
    """Call `torr` inside this process, in the test's directory and with its store."""

    def call(*arguments):
        from torr.cli.main import main

        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("TORR_STORE", environment(tmp_path)["TORR_STORE"])
        monkeypatch.setattr(sys, "argv", ["torr", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert not ended.value.code, err
        return out

    return call
