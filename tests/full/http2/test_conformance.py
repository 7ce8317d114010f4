"""The tests of h2specd: a server of HTTP/2 whose every port tests its client in another way."""

from __future__ import annotations

import random
import re
import signal
import socket
import subprocess
import urllib.request
from contextlib import ExitStack, contextmanager

import pytest

from documents import ROOT
from installed import TORR, wait_until

H2SPECD = ROOT / "build/h2spec/h2specd"
TESTS = 57
PASSED, FAILED = "✔", "✖"
# Below the ports that connections take.
PORTS = range(20_000, 32_000)


@pytest.fixture(params=["http", "https"])
def h2specd(request, authority, tmp_path):
    """Start h2specd; yield the URLs of its tests, and that of its report."""
    assert H2SPECD.exists(), f"{H2SPECD} is missing: make build/h2spec/.pins installs it"
    first = free_ports(TESTS + 1)
    good = authority.folder / "good"
    tls = ["--tls", "--cert-file", f"{good}.pem", "--cert-key-file", f"{good}.key"]
    command = [H2SPECD, "--from-port", str(first), "--port", str(first + TESTS)]
    command += tls if request.param == "https" else []
    with ended(command, signal.SIGTERM, tmp_path) as process:
        urls = [f"{request.param}://127.0.0.1:{first + number}/" for number in range(TESTS)]
        report = f"http://127.0.0.1:{first + TESTS}/report"
        wait_until(lambda: text_of(report))
        assert process.poll() is None
        yield urls, report


def free_ports(count):
    """Return the first of so many adjacent ports that nothing listens on now."""
    blocks = PORTS[::count]
    # At random: tests in other processes choose, too.
    for first in random.sample(blocks, len(blocks)):
        try:
            with ExitStack() as stack:
                for port in range(first, first + count):
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
        except OSError:
            continue
        return first
    raise AssertionError(f"no {count} adjacent ports are free")


@contextmanager
def ended(command, number, folder):
    """Run a command in a folder until the block ends, and end it by a signal."""
    with subprocess.Popen(
        list(map(str, command)), cwd=folder, stdout=subprocess.DEVNULL
    ) as process:
        try:
            yield process
        finally:
            process.send_signal(number)


def has_all(text):
    """Return whether all tests have ended; sums in the report may be wrong, as it adds unlocked."""
    return text.count(PASSED) + text.count(FAILED) == TESTS


def text_of(report):
    """Return the lines of a report without tags; an empty text until it can be read."""
    try:
        with urllib.request.urlopen(report, timeout=60) as answer:  # noqa: S310
            page = answer.read().decode()
    except OSError:
        return ""
    return re.sub(r"<[^>]*>", "", page.replace("</div>", "\n"))


def test_h2specd_finds_no_fault_in_the_client(h2specd, authority, tmp_path):
    urls, report = h2specd
    version = "2" if urls[0].startswith("https") else "2c"
    # Each user sends one request to a port of its own, and keeps the connection until all tests
    # have ended: tests go on after the response, and pass if the client closes the connection.
    load = ("-c", TESTS, "--think", "10m", "-z", "10m", "--warmup", "0s", "--timeout", "10m")
    security = ("--http", version, "--cacert", authority.certificate)
    with ended([TORR, "run", *load, *security, *urls], signal.SIGINT, tmp_path):
        text = wait_until(lambda: has_all(text := text_of(report)) and text)
    assert text.count(PASSED) == TESTS, text
