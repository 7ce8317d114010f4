"""Messages over WebSocket: torr and the server count the same, torr's own target and uvicorn."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from installed import free_port, wait_until

QUICK = ("--warmup", "0s", "--timeout", "30s", "-o", "json")
SERVER = Path(__file__).with_name("websocket_app.py")


@pytest.fixture(scope="module")
def uvicorn(tmp_path_factory):
    """Return the URL of a uvicorn server and the file with its counts."""
    with serving(tmp_path_factory.mktemp("uvicorn")) as served:
        yield served


@contextmanager
def serving(folder):
    """Serve with uvicorn and wsproto."""
    counts, port = folder / "counts.json", free_port()
    command = [sys.executable, str(SERVER), str(port), str(counts)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_until(lambda: process.poll() is not None or counts.exists())
        assert process.poll() is None
        yield f"ws://127.0.0.1:{port}", counts
        process.terminate()


def counted(counts):
    return json.loads(counts.read_text())


def test_answers_without_the_id_of_a_message_are_named(torr, target):
    flags = ("-c", 2, "--requests", 4, "--match", "id:id", "--timeout", "200ms")
    ended = torr("run", *flags, "-b", '{"n": {{seq}}}', "--warmup", "0s", f"{target('ws').url}/x")
    assert ended.code == 3
    assert "4 messages came, none with the id of a request" in ended.err
    assert "--match id:KEY" in ended.err


def test_a_refused_handshake_has_no_status_to_expect(torr, target):
    hostile = target("faulty", "--fault", "ws_refused", "--share", "100%")
    url = f"ws://{hostile.url.partition('//')[2]}/x"
    ended = torr("run", "--once", "-v", "-b", "the message", url)
    assert ended.code == 3
    assert "< HTTP/1.1 403 Forbidden" in ended.out
    assert "<\nForbidden\n" in ended.out
    assert "the message" not in ended.out
    assert "refused the handshake with status 403" in ended.err
    assert "-H 'Origin: …'" in ended.err
    assert "--expect-status" not in ended.err


@pytest.mark.parametrize("matching", ["order", "id:id"])
def test_every_message_is_answered_and_counted_by_the_server(torr, target, matching):
    echo = target("ws")
    message = ("-b", '{"id": {{seq}}}', "--expect-json", "$.id=7")
    flags = ("-c", 40, "--streams", 10, "--requests", 5000, "--match", matching)
    ended = torr("run", *QUICK, *flags, *message, f"{echo.url}/chat")
    level, seen = ended.level, echo.stop()
    # All other answers are answers, too.
    counts = level["counts"]
    assert (counts["attempted"], counts["errors"]) == (5000, {"check": 4999}), ended.err
    assert (seen["connections"], seen["requests"], seen["answered"]) == (4, 5000, 5000)
    assert level["websocket"]["unmatched_messages"] == 0
    assert level["connections"] == {"requested": 4, "open_max": 4, "opened": 4}


def test_idle_connections_are_held_while_a_few_messages_are_sent(torr, target):
    echo = target("ws")
    flags = ("-b", "hello", "--expect-body", "hello", "--rate", "100/s", "-c", 500, "-z", "1s")
    ended = torr("run", *QUICK, *flags, echo.url)
    level, seen = ended.level, echo.stop()
    assert level["counts"]["ok"] == level["counts"]["planned"] == seen["answered"] == 100
    assert (level["connections"]["open_max"], seen["connections"]) == (500, 500)


def test_pushed_messages_are_counted_and_shown(torr, target):
    echo = target("ws", "--push-every", "20ms")
    message = ("--json-body", '{"id": "{{seq}}"}', "--match", "id:id", "--think", "1ms")
    ended = torr("run", *QUICK[:-2], "-c", 2, "-z", "500ms", *message, echo.url)
    assert ended.code == 0, ended.err
    level = ended.level
    assert level["counts"]["errors"] == {}
    assert level["websocket"]["unmatched_messages"] > 0
    assert "unmatched messages" in ended.out
    assert "statuses" not in ended.out


def test_one_way_messages_are_complete_when_they_are_written(torr, target):
    echo = target("ws")
    flags = ("-b", "hello", "--match", "none", "--rate", "1k", "-c", 4, "-z", "500ms")
    ended = torr("run", *QUICK, *flags, echo.url)
    assert ended.level["counts"]["ok"] == echo.stop()["requests"] == 500


def test_a_server_that_answers_one_way_messages_reads_all_of_them(torr, tmp_path):
    flags = ("-b", "hello", "--match", "none", "--streams", 4, "-c", 8, "--requests", 5000)
    with serving(tmp_path) as (url, counts):
        ended = torr("run", *QUICK, *flags, f"{url}/echo")
        assert ended.level["counts"]["ok"] == 5000, ended.level["reasons"]
        wait_until(lambda: counted(counts)["closes"] == {"1000": 2})
        assert counted(counts)["messages"] == 5000
        assert ended.level["websocket"]["unconfirmed"] == 0


def test_a_message_is_shown_with_its_handshake_and_its_answer(torr, target):
    ended = torr("run", "--once", "-v", "-b", "hello", f"{target('ws').url}/chat")
    assert ended.code == 0, ended.err
    assert "GET /chat HTTP/1.1" in ended.out
    assert "101 Switching Protocols" in ended.out
    assert ended.out.count("\nhello\n") == 2


def test_a_server_of_http_alone_is_named(torr, target):
    hello = target("hello").url.replace("http:", "ws:")
    ended = torr("run", "--requests", 3, "-c", 1, *QUICK, "-b", "x", hello)
    assert ended.level["reasons"] == {"status.200": 3}


def test_uvicorn_counts_the_same(torr, tmp_path):
    flags = ("-b", "größer {{seq}}", "--expect-body", "größer", "-c", 8, "--requests", 2000)
    with serving(tmp_path) as (url, counts):
        ended = torr("run", *QUICK, *flags, f"{url}/echo")
        assert ended.level["counts"]["ok"] == 2000, ended.level["reasons"]
        # Each connection was left with the code 1000.
        wait_until(lambda: counted(counts)["closes"] == {"1000": 8})
        wait_until(lambda: counted(counts)["messages"] == 2000)


def test_a_user_logs_in_and_its_token_is_in_the_next_messages(torr, uvicorn, tmp_path):
    lines = [
        {"url": "/echo", "text_body": '{"token": "{{uuid}}"}', "capture": ["token=json:$.token"]},
        {"url": "/echo", "text_body": "with {{token}}", "expect_body": "/^with .{36}$/"},
    ]
    (tmp_path / "sent.jsonl").write_text("\n".join(map(json.dumps, lines)))
    flags = ("--requests-file", "sent.jsonl", "--steps", "-c", 4, "--requests", 400)
    ended = torr("run", *QUICK, *flags, uvicorn[0])
    assert ended.level["counts"]["ok"] == 400, ended.level["reasons"]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/refuse", "status.403"),
        ("/close/1011", "read.websocket_close.internal"),
        ("/close/4000", "read.websocket_close.other"),
    ],
)
def test_refusals_and_codes_are_reasons(torr, uvicorn, path, reason):
    ended = torr("run", *QUICK, "-b", "x", "-c", 2, "--requests", 20, f"{uvicorn[0]}{path}")
    assert ended.level["reasons"] == {reason: 20}
    closed = ended.level["websocket"]["closed_by_server"]
    assert closed == 0 if reason.startswith("status") else closed >= 18
