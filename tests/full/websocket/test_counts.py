"""After many messages, torr's counts are those of servers of others, plain and over TLS."""

from __future__ import annotations

import json
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from authority import Authority
from documents import ROOT
from installed import TORR, Ended, free_port, is_open, wait_until

BUILT = ROOT / "build/websocket"
SERVERS = Path(__file__).with_name("servers")
MESSAGES = 200_000
FEWER = 50_000
LOAD = ("-c", 100, "--warmup", "0s", "--timeout", "1m")
EACH = ("python", "node", "go")


def command_of(name, port, files):
    """Return the command of a server, which prints its counts when it is stopped."""
    if name == "python":
        return [BUILT / "python/bin/python", SERVERS / "server.py", port, *files]
    if name == "node":
        return ["node", BUILT / "node/server.js", port, *files]
    options = zip(("--certificate", "--key"), files, strict=False)
    secure = [word for option in options for word in option]
    return [BUILT / "websocketserver", "--address", f"127.0.0.1:{port}", *secure]


@contextmanager
def serving(name, files, seen):
    """Run a server until the block ends; `seen` gets what it has counted."""
    port = free_port()
    command = list(map(str, command_of(name, port, files)))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            wait_until(lambda: process.poll() is not None or is_open(port))
            yield f"{'wss' if files else 'ws'}://127.0.0.1:{port}/"
        finally:
            process.terminate()
        seen |= json.loads(process.stdout.read())


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    authority = Authority(tmp_path_factory.mktemp("authority"))
    authority.sign("good")
    path = authority.folder / "good.pem"
    return authority.certificate, [path, path.with_suffix(".key")]


@pytest.fixture
def fire(tmp_path, certificate):
    """Send messages to a server; return the level of the result, and what the server counted."""

    def fired(name, *words, is_secure=False):
        trusted, files = certificate
        seen, trust = {}, ("--cacert", trusted) if is_secure else ()
        with serving(name, files if is_secure else [], seen) as url:
            command = list(map(str, [TORR, "run", *LOAD, *trust, *words, url]))
            ended = subprocess.run(
                command, capture_output=True, text=True, cwd=tmp_path, timeout=600, check=False
            )
        assert ended.returncode == 0, ended.stderr
        return Ended(ended.returncode, ended.stdout, ended.stderr, tmp_path).level, seen

    return fired


def assert_none_is_lost(level, seen, messages):
    counts = level["counts"]
    assert counts["ok"] == counts["attempted"] == messages
    assert (level["reasons"], counts["in_flight"]) == ({}, 0)
    assert level["websocket"]["unmatched_messages"] == 0
    assert seen["messages"] == messages
    # torr has left each connection with the code 1000.
    assert seen["closes"] == {"1000": level["connections"]["opened"]}


@pytest.mark.parametrize("name", EACH)
def test_a_server_has_counted_as_torr_has(fire, name):
    message = ("-b", "größer {{seq}}", "--expect-body", "größer")
    level, seen = fire(name, *message, "--requests", MESSAGES)
    assert_none_is_lost(level, seen, MESSAGES)
    assert level["connections"]["opened"] == 100


@pytest.mark.parametrize("name", EACH)
def test_a_server_over_tls_has_counted_as_torr_has(fire, name):
    message = ("-b", "hello {{seq}}", "--binary", "--requests", FEWER)
    level, seen = fire(name, *message, "--streams", 10, is_secure=True)
    assert_none_is_lost(level, seen, FEWER)
    assert level["connections"]["opened"] == 10


@pytest.mark.parametrize("name", EACH)
def test_large_messages_and_ids_come_back(fire, name, tmp_path):
    body = json.dumps({"id": "ID", "more": "ö" * 100_000}).replace('"ID"', "{{seq}}")
    message = tmp_path / "message.json"
    message.write_text(body)
    flags = ("--match", "id:id", "--streams", 5, "--requests", 2000)
    level, seen = fire(name, "-b", f"@{message}", *flags)
    assert_none_is_lost(level, seen, 2000)


@pytest.mark.parametrize("name", EACH)
def test_connections_are_replaced_after_their_messages(fire, name):
    level, seen = fire(name, "-b", "x", "--requests", 5000, "--requests-per-connection", 10)
    assert_none_is_lost(level, seen, 5000)
    assert level["connections"]["opened"] >= 500
    assert level["websocket"]["closed_by_server"] == 0


@pytest.mark.parametrize("is_secure", [False, True], ids=["plain", "tls"])
@pytest.mark.parametrize("name", EACH)
def test_a_server_that_answers_reads_all_one_way_messages(fire, name, is_secure):
    message = ("-b", "hello {{seq}}", "--match", "none", "--requests", FEWER)
    level, seen = fire(name, *message, "--streams", 10, is_secure=is_secure)
    assert level["counts"]["ok"] == seen["messages"] == FEWER
    assert seen["closes"] == {"1000": 10}
    assert level["websocket"]["unconfirmed"] == 0
