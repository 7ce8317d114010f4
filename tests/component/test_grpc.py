"""Calls of gRPC: torr counts what the target counts, whatever tells it the types of messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from documents import ROOT
from torr import once

ECHO = ROOT / "crates/targets/proto/echo.proto"
TYPES = {"proto": ("--proto", ECHO), "reflection": ("--reflection",)}
LOAD = ("-c", 6, "--streams", 3, "--requests", 60, "--warmup", "0s", "-o", "json")
MESSAGES = '[{"text": "a{{seq}}"}, {"inner": {"number": "{{seq}}"}}, {}]'


@pytest.mark.parametrize("types", TYPES)
@pytest.mark.parametrize(
    "call",
    [
        ("Unary", '{"text": "hello", "tags": ["{{uuid}}"]}', None),
        ("ServerStream", '{"text": "hello"}', 3),
        ("ClientStream", MESSAGES, None),
        ("Bidirectional", MESSAGES, 3),
    ],
)
def test_calls_are_counted_as_the_target_does(torr, target, types, call):
    method, body, answers = call
    running = target("grpc")
    words = ("--grpc", f"torr.Echo/{method}", *TYPES[types], "-b", body)
    ended = torr("run", *words, *LOAD, running.url)
    level, counts = ended.level, running.stop()
    # Reflection takes two calls.
    asked = 2 if types == "reflection" else 0
    assert level["counts"]["ok"] == counts["answered"] - asked == 60, ended.err
    assert [row["name"] for row in level["requests"]] == [f"torr.Echo/{method}"]
    events = {"message": 60 * answers} if answers else None
    assert (level["stream"] and level["stream"]["events"]) == events
    round_trips = level["latency"].get("message_ms")
    assert (round_trips and round_trips["n"]) == (180 if method == "Bidirectional" else None)


def test_a_status_is_a_reason_and_the_sample_has_its_text(torr, target, tmp_path):
    renamed = tmp_path / "other.proto"
    renamed.write_text(ECHO.read_text().replace("rpc Unary(", "rpc Missing("))
    call = ("--grpc", "torr.Echo/Missing", "--proto", renamed, "-b", "{}")
    ended = torr("run", *call, *LOAD, target("grpc").url)
    assert ended.code == 3
    assert ended.level["reasons"] == {"status.grpc.unimplemented": 60}
    assert ended.level["samples"][0]["body"] == "there is no such method"


def test_one_call_is_shown_with_its_status(torr, target):
    call = ("--once", "--grpc", "torr.Echo/Bidirectional", "--reflection")
    ended = torr("run", *call, "-b", '[{"text": "a"}, {"number": 7}]', target("grpc").url)
    assert ended.code == 0, ended.err
    assert ended.out.count('"text": "a"') == 2
    assert ended.out.splitlines()[-1].startswith("OK (0) from 127.0.0.1:")


def test_one_call_returns_its_status_and_its_messages(target, tmp_path):
    url = target("grpc").url
    body = [{"text": "a"}, {"number": 7}]
    answer = once(url, grpc="torr.Echo/Bidirectional", protos=[ECHO], json_body=body)
    assert (answer.is_ok, answer.grpc_status) == (True, "OK")
    assert answer.messages == ({"text": "a"}, {"number": "7"})
    renamed = tmp_path / "other.proto"
    renamed.write_text(ECHO.read_text().replace("rpc Unary(", "rpc Missing("))
    answer = once(url, grpc="torr.Echo/Missing", protos=[renamed])
    assert (answer.is_ok, answer.grpc_status, answer.messages) == (False, "UNIMPLEMENTED", ())


def test_a_ladder_and_a_plan_file_call_methods(torr, target, tmp_path):
    url = target("grpc").url
    call = ("--grpc", "torr.Echo/Unary", "--proto", ECHO, "-b", '{"text": "hello"}')
    levels = ("--levels", "1,2", "--rounds", 1, "-z", "200ms", "--warmup", "0s")
    ended = torr("ladder", *call, *levels, "-o", "json", url)
    assert ended.code == 0, ended.err
    assert [level["http"] for level in json.loads(ended.out)["levels"]] == ["2c", "2c"]
    plan = Path(tmp_path / "plan.toml")
    plan.write_text(
        f"""
url = "{url}"
proto = "{ECHO}"
[[requests]]
name = "one"
grpc = "torr.Echo/Unary"
json = {{ text = "hello" }}
[[requests]]
name = "several"
grpc = "torr.Echo/ClientStream"
json = [{{ text = "a" }}, {{ text = "b" }}]
"""
    )
    ended = torr("run", plan, "-c", 2, "--requests", 40, "--warmup", "0s", "-o", "json")
    assert ended.code == 0, ended.err
    rows = {row["name"]: row["counts"]["ok"] for row in ended.level["requests"]}
    assert rows == {"one": 20, "several": 20}
