"""Loads of WebSocket messages: what they become, and which options they do not have."""

from __future__ import annotations

import base64
import json

import pytest

URL = "ws://127.0.0.1:9/chat"
HTTP = "http://127.0.0.1:9/x"


def plan_of(fake):
    return fake.loads[0].plan.as_json()


def requests_of(fake):
    return [
        request
        for group in plan_of(fake)["groups"]
        for request in group["source"].get("requests", [group["source"].get("request")])
    ]


def test_a_message_is_a_request_whose_status_is_that_of_the_handshake(torr, fake):
    assert torr("run", URL, "-b", "hello", "--streams", "4", "-H", "x-user: ann").code == 0
    (request,) = requests_of(fake)
    assert (request["method"], request["name"], request["url"]) == ("GET", "WS /chat", URL)
    assert base64.b64decode(request["body"]) == b"hello"
    assert request["accept_statuses"] == [[101, 101]]
    assert ["x-user", "ann"] in request["headers"]
    transport = plan_of(fake)["transport"]
    assert transport["streams"] == 4
    assert not {"http", "websocket"} & transport.keys()


def test_json_messages_have_no_content_type_and_may_be_matched_by_id(torr, fake):
    flags = ("--match", "id:id", "--binary")
    assert torr("run", URL, "--json-body", '{"id": "{{seq}}"}', *flags).code == 0
    (request,) = requests_of(fake)
    assert "content-type" not in [name for name, _ in request["headers"]]
    assert plan_of(fake)["transport"]["websocket"] == {
        "matching": {"kind": "id", "key": "id"},
        "binary": True,
    }


def test_messages_to_different_paths_or_with_different_headers_use_different_connections(
    torr, fake, tmp_path
):
    lines = [
        {"url": "/a", "text_body": "x"},
        {"url": "/a", "text_body": "y"},
        {"url": "/b", "text_body": "x"},
        {"url": "/a", "text_body": "x", "header": {"x-user": ["ann"]}},
    ]
    (tmp_path / "sent.jsonl").write_text("\n".join(map(json.dumps, lines)))
    base = "ws://127.0.0.1:9"
    assert torr("run", base, "--requests-file", "sent.jsonl", "-c", "6", "--verbatim").code == 0
    groups = plan_of(fake)["groups"]
    assert [len(group["source"].get("requests", [1])) for group in groups] == [2, 1, 1]
    assert {request["method"] for request in requests_of(fake)} == {"GET"}
    assert len({request["name"] for request in requests_of(fake)}) == 4


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ((URL,), "there is no message to send"),
        ((URL, "-b", "x", "-m", "PUT"), "no method"),
        ((URL, "-b", "x", "--compressed"), "compress"),
        ((URL, "-b", "x", "--stream", "sse"), "stream"),
        ((URL, "-b", "x", "--expect-status", "200"), "--expect-status and a WebSocket URL"),
        ((URL, "-b", "x", "--http", "2c"), "begins with HTTP/1.1"),
        ((URL, "-b", "x", "-H", "Upgrade: h2c"), "sets the header Upgrade itself"),
        ((URL, "-b", "x", "-H", "x-user: {{seq}}"), "belong to the connection"),
        ((f"{URL}/{{{{seq}}}}", "-b", "x"), "belong to the connection"),
        ((URL, "-b", "x", "--capture", "a=header:x"), "no headers to capture"),
        ((URL, "-b", "x", "--match", "id:id"), "--match id:id: the message has no such key"),
        ((URL, "-b", '{"ID": 1}', "--match", "id:id"), "no such key"),
        ((URL, "-b", "x", "--match", "first"), "no way to match answers"),
        ((URL, "-b", "x", "--match", "none", "--expect-body", "x"), "messages have no answers"),
        ((URL, HTTP, "-b", "x", "--streams", "2"), "--streams: some requests are messages"),
        ((HTTP, "--match", "none"), "--match needs a ws:// or wss:// URL"),
        ((HTTP, "--binary"), "--binary needs a ws:// or wss:// URL"),
        ((HTTP, "--streams", "2"), "carries one request at a time"),
        (
            (HTTP, *("--http", "2c", "--streams", "2"), *("--coalesce", "1s", "--timeout", "1s")),
            "--coalesce is not shorter than --timeout",
        ),
    ],
)
def test_what_does_not_fit_is_refused(torr, fake, flags, said):
    ended = torr("run", *flags)
    assert ended.code == 2, ended.err
    assert said in ended.err
    assert fake.loads == []


def test_messages_and_requests_of_http_can_share_a_run(torr, fake):
    assert torr("run", URL, HTTP, "-b", "x", "-c", "4").code == 0
    assert [request["accept_statuses"] for request in requests_of(fake)] == [
        [[101, 101]],
        [[200, 399]],
    ]


def test_messages_of_a_group_have_one_path(torr, fake, tmp_path):
    tables = [f'[[requests]]\nname = "{name}"\nurl = "/{name}"\nbody = "x"\n' for name in "ab"]
    (tmp_path / "plan.toml").write_text("\n".join(['url = "ws://127.0.0.1:9"', *tables]))
    ended = torr("run", "plan.toml")
    assert ended.code == 2
    assert "have different URLs or headers" in ended.err
    assert not fake.loads


def test_a_plan_file_may_have_messages(torr, fake, tmp_path):
    (tmp_path / "plan.toml").write_text(
        'url = "ws://127.0.0.1:9"\nmatch = "id:id"\nstreams = 2\n'
        '[[requests]]\nname = "ask"\nurl = "/chat"\njson = {id = "{{seq}}"}\n'
    )
    ended = torr("run", "plan.toml")
    assert ended.code == 0, ended.err
    (request,) = requests_of(fake)
    assert (request["method"], request["accept_statuses"]) == ("GET", [[101, 101]])
    assert plan_of(fake)["transport"]["streams"] == 2
