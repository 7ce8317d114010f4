"""Fixtures that run the installed `torr` against its own targets on the loopback address."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from candidates import QUICK, SERVER
from installed import TORR, Ended, SharedTarget, Target, until_judged
from warm_process import TIMEOUT_S, WarmProcess

WARM_TORR = Path(__file__).with_name("warm_torr.py")


@pytest.fixture(scope="session")
def warm_torr():
    """Return a process from which a `torr` is forked per command."""
    warm = WarmProcess(WARM_TORR)
    yield warm
    warm.close()


@pytest.fixture(scope="session")
def torr_in(warm_torr, tmp_path_factory):
    """Run a `torr` command to its end in a directory; it is forked from the warm process."""

    def run(folder, *arguments):
        output = tmp_path_factory.mktemp("output")
        out, err = output / "out.txt", output / "err.txt"
        request = {
            "folder": str(folder),
            "arguments": list(map(str, arguments)),
            "environment": dict(os.environ),
            "out": str(out),
            "err": str(err),
        }
        code = warm_torr.run(request, err)
        return Ended(code, out.read_text(), err.read_text(), folder)

    return run


@pytest.fixture
def torr(tmp_path, torr_in):
    """Run a `torr` command to its end in an empty directory.

    With settings, which are keywords of `subprocess.run` such as `env`, the installed program is
    started instead of a fork of the warm process.
    """

    def run(*arguments, **settings):
        if not settings:
            return torr_in(tmp_path, *arguments)
        process = subprocess.run(
            [TORR, *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=TIMEOUT_S,
            check=False,
            **settings,
        )
        return Ended(process.returncode, process.stdout, process.stderr, tmp_path)

    return run


@pytest.fixture
def judged_torr(torr, tmp_path):
    """Run a `torr` command as `torr` does, until the generator was not the limit of its load."""

    def run(*arguments, **settings):
        return until_judged(lambda: torr(*arguments, **settings), tmp_path)

    return run


@pytest.fixture
def start(tmp_path, warm_torr):
    """Start a `torr` command and leave it running; it is killed at the end of the test.

    It is forked or the installed program, as with `torr`.
    """
    processes = []

    def started(*arguments, **settings):
        words = [*map(str, arguments)]
        if settings:
            process = subprocess.Popen(
                [TORR, *words],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd=tmp_path,
                **settings,
            )
        else:
            process = warm_torr.start(
                {"folder": str(tmp_path), "arguments": words, "environment": dict(os.environ)}
            )
        processes.append(process)
        return process

    yield started
    for process in processes:
        with process:
            process.kill()


@pytest.fixture
def target(start):
    """Start a `torr target` and return its URL and process."""

    def started(*arguments, **settings):
        process = start("target", *arguments, **settings)
        line = process.stdout.readline()
        is_listening = line.startswith(("listening on http://", "listening on ws://"))
        assert is_listening, process.stderr.read()
        return Target(line.split()[-1], process)

    return started


# A target that answers after 1 ms: torr is not the limit on a busy machine.
STEADY = ("delay", "--delay", "1ms")


@pytest.fixture(scope="session")
def steady():
    """Return a steady target that all tests share; tests that read counts use `own_steady`."""
    with subprocess.Popen([TORR, "target", *STEADY], stdout=subprocess.PIPE, text=True) as process:
        yield SharedTarget(process.stdout.readline().split()[-1])
        process.kill()


@pytest.fixture
def own_steady(target):
    """Start a steady target that only this test uses, so that its counts are of this test."""
    return target(*STEADY)


@pytest.fixture
def tmpfs(tmp_path):
    """Mount small file systems, each for a with block."""
    if os.getuid() != 0:
        pytest.skip("only root may mount a file system")
    mounted = []

    @contextmanager
    def mount(options):
        place = tmp_path / f"disk{len(mounted)}"
        place.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], check=True)
        mounted.append(place)
        try:
            yield place
        finally:
            subprocess.run(["umount", place], check=True)

    return mount


@pytest.fixture
def matrix(tmp_path):
    """Write a matrix file; `candidates` has the command of each name, as a list in TOML."""

    def written(candidates, top=QUICK):
        tables = [
            f'[[candidates]]\nname = "{name}"\ncommand = {command}\n'
            for name, command in candidates.items()
        ]
        (tmp_path / "matrix.toml").write_text(top + "\n".join(tables))
        return "matrix.toml"

    return written


@pytest.fixture
def server(tmp_path):
    """Write a server that uses http.server, and return the command that starts it, in TOML."""

    def written(name="server", body=b"Hello world", limit=10**9, setup=""):
        text = SERVER.replace("LIMIT", str(limit)).replace("BODY", repr(body))
        (tmp_path / f"{name}.py").write_text(text.replace("SETUP", setup))
        return f'["{sys.executable}", "{tmp_path}/{name}.py", "{{port}}"]'

    return written
