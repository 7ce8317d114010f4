"""After many calls, torr's counts are those of servers of others, plain and over TLS."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from authority import Authority
from documents import ROOT
from installed import TORR, Ended, free_port, is_open, wait_until

BUILT = ROOT / "build/grpc"
SERVERS = Path(__file__).with_name("servers")
TYPES = ROOT / "crates/targets/proto"
CALLS = {"go": 100_000, "tonic": 100_000, "python": 5_000}
FEWER = 2_000
MESSAGES = '[{"text": "a{{seq}}"}, {"inner": {"tags": ["{{uuid}}"]}}, {"number": "{{seq}}"}]'
LOAD = ("-c", 40, "--streams", 10, "--warmup", "0s", "--timeout", "1m", "-o", "json")


def command_of(name, port, files):
    """Return the command of a server, which prints its counts when it is stopped."""
    address, described = f"127.0.0.1:{port}", TYPES / "echo.bin"
    if name == "tonic":
        return [BUILT / "target/release/tonic-server", address]
    program = [sys.executable, SERVERS / "server.py"] if name == "python" else [BUILT / "go-server"]
    return [*program, described, address, *files]


@contextmanager
def serving(name, files, seen):
    """Run a server until the block ends; `seen` gets what it has counted."""
    port = free_port()
    command = list(map(str, command_of(name, port, files)))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            wait_until(lambda: process.poll() is not None or is_open(port))
            yield f"{'https' if files else 'http'}://127.0.0.1:{port}"
        finally:
            process.terminate()
        seen |= json.loads(process.stdout.read())


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    made = Authority(tmp_path_factory.mktemp("authority"))
    made.sign("good")
    return made


@pytest.fixture
def fire(authority, tmp_path):
    """Call a method of a server; return how that ended, and what the server counted."""

    def fired(name, method, body, *more, calls, is_secure=False):
        files = [authority.folder / f"good.{kind}" for kind in ("pem", "key")] if is_secure else []
        trust = ("--cacert", authority.certificate) if is_secure else ()
        call = ("--grpc", f"torr.Echo/{method}", "-b", body, "--requests", calls)
        types = () if "--reflection" in more else ("--proto", TYPES / "echo.proto")
        seen = {}
        with serving(name, files, seen) as url:
            command = [TORR, "run", *call, *types, *more, *LOAD, *trust, url]
            words = list(map(str, command))
            ended = subprocess.run(
                words, capture_output=True, text=True, cwd=tmp_path, timeout=600, check=False
            )
        return Ended(ended.returncode, ended.stdout, ended.stderr, tmp_path), seen

    return fired


def assert_counts_agree(ended, seen, calls, messages):
    assert ended.code == 0, ended.err
    assert ended.level["counts"]["ok"] == seen["calls"] == calls
    assert seen["messages"] == calls * messages
    assert ended.level["reasons"] == {}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    "call",
    [
        ("Unary", '{"text": "user-{{seq}}", "number": "{{seq}}", "inner": {"tags": ["x"]}}', 1),
        ("Bidirectional", MESSAGES, 3),
    ],
)
def test_calls_are_counted_as_the_server_does(fire, name, call):
    method, body, messages = call
    calls = CALLS[name] // messages
    ended, seen = fire(name, method, body, calls=calls)
    assert_counts_agree(ended, seen, calls, messages)
    if method == "Bidirectional":
        assert ended.level["stream"]["events"] == {"message": calls * 3}
        assert ended.level["latency"]["message_ms"]["n"] == calls * 3


@pytest.mark.parametrize("name", ["go", "python"])
@pytest.mark.parametrize(
    "call",
    [
        ("ServerStream", '{"text": "hello"}', 1),
        ("ClientStream", MESSAGES, 3),
        ("Bidirectional", MESSAGES, 3),
    ],
)
@pytest.mark.parametrize("is_secure", [False, True])
def test_streams_and_tls_are_counted_as_the_server_does(fire, name, call, is_secure):
    method, body, messages = call
    ended, seen = fire(name, method, body, calls=FEWER, is_secure=is_secure)
    assert_counts_agree(ended, seen, FEWER, messages)
    if method == "ServerStream":
        assert ended.level["stream"]["events"] == {"message": 3 * FEWER}


@pytest.mark.parametrize("name", ["go", "python"])
def test_a_status_of_the_server_is_the_reason(fire, name):
    ended, seen = fire(name, "Unary", '{"text": "fail"}', calls=FEWER)
    assert (ended.code, seen["calls"]) == (3, FEWER)
    assert ended.level["reasons"] == {"status.grpc.not_found": FEWER}
    assert ended.level["samples"][0]["body"] == "no such text: ü"


@pytest.mark.parametrize(("name", "more"), [("go", ("--reflection",)), ("go", ("--grpc-gzip",))])
def test_types_by_reflection_and_compressed_messages_are_understood(fire, name, more):
    ended, seen = fire(name, "Unary", '{"text": "hello"}', *more, calls=FEWER)
    # Calls of reflection are not those of torr.Echo.
    assert_counts_agree(ended, seen, FEWER, 1)
