"""What is sent: the target saw exactly what was planned."""

from __future__ import annotations

import gzip
import json
import uuid
from collections import Counter

import pytest

from documents import ROOT
from recorder import of_json, recording

EXAMPLES = ROOT / "examples"
# One worker: each of several begins elsewhere in the order of requests.
ONCE = ("--warmup", "0s", "--drain", "30s", "--timeout", "30s", "--workers", "1")


@pytest.fixture
def server():
    with recording() as recorder:
        yield recorder


def rows(level):
    """The result's rows, by name."""
    return {row["name"]: row["counts"] for row in level["requests"]}


def test_urls_go_in_turn_and_each_has_a_row(torr, server):
    paths = ["/a", "/b", "/c"]
    ended = torr("run", "--requests", 90, "-c", 3, *ONCE, *(server.url + path for path in paths))
    assert ended.code == 0, ended.err
    assert [len(server.of(path)) for path in paths] == [30, 30, 30]
    assert {name: row["ok"] for name, row in rows(ended.level).items()} == {
        "GET /a": 30,
        "GET /b": 30,
        "GET /c": 30,
    }
    assert ended.level["counts"]["ok"] == 90


def test_a_mix_is_as_it_was_weighted(torr, server):
    urls = [server.url + path for path in ("/often", "/seldom")]
    ended = torr("run", "--requests", 2000, "-c", 4, "--weights", "9,1", *ONCE, *urls)
    assert ended.code == 0, ended.err
    # 200 are expected, with a standard deviation of 13: eight of them are no accident.
    assert 96 < len(server.of("/seldom")) < 304
    assert len(server.seen) == 2000
    assert rows(ended.level)["GET /seldom"]["ok"] == len(server.of("/seldom"))


def test_endpoints_have_connections_and_rows_of_their_own(torr, server):
    with recording() as other:
        urls = [server.url + "/x", other.url + "/x"]
        ended = torr("run", "--requests", 400, "-c", 4, "--weights", "3,1", *ONCE, *urls)
    assert ended.code == 0, ended.err
    assert (server.connections, other.connections) == (3, 1)
    assert len(server.seen) + len(other.seen) == 400
    found = {name: row["ok"] for name, row in rows(ended.level).items()}
    assert found == {
        f"GET {server.place}/x": len(server.seen),
        f"GET {other.place}/x": len(other.seen),
    }


def test_endpoints_draw_from_one_sequence(torr, server):
    with recording() as other:
        urls = [server.url + "/{{seq}}", other.url + "/{{seq}}"]
        ended = torr("run", "--requests", 400, "-c", 4, "--workers", 2, *ONCE, *urls)
    assert ended.code == 0, ended.err
    sent = [int(seen.path.removeprefix("/")) for seen in (*server.seen, *other.seen)]
    assert len(set(sent)) == len(sent) == 400


def test_rows_are_used_in_turn_and_quoted(torr, server):
    url = server.url + "/items?q={{row.query | url}}"
    flags = ("--data", EXAMPLES / "users.csv", "-H", "x-user: {{row.user}}")
    ended = torr("run", "--requests", 6, "-c", 1, *ONCE, *flags, url)
    assert ended.code == 0, ended.err
    found = [(seen.headers["x-user"], seen.query["q"]) for seen in server.seen]
    assert found == [("ann", "tea & biscuits"), ("bob", "coffee"), ("cem", "café")] * 2


def test_rows_of_json_lines_go_into_a_body(torr, server, tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"text": "a \\"b\\"\\n", "n": 7}\n')
    body = '{"text": "{{row.text | json}}", "n": {{row.n}}}'
    ended = torr(
        *("run", "--requests", 2, "-c", 1, *ONCE, "--data", "rows.jsonl"),
        *("--json-body", json.dumps("{{row.text | json}}"), server.url),
    )
    assert ended.code == 0, ended.err
    assert [json.loads(seen.body) for seen in server.seen] == ['a "b"\n'] * 2
    ended = torr("run", "--requests", 1, *ONCE, "--data", "rows.jsonl", "-b", body, server.url)
    assert ended.code == 0, ended.err
    assert json.loads(server.seen[-1].body) == {"text": 'a "b"\n', "n": 7}


def test_every_request_gets_values_of_its_own(torr, server):
    url = server.url + "/?id={{uuid}}&n={{seq}}&r={{ rand 5 7 }}"
    ended = torr("run", "--requests", 300, "-c", 3, *ONCE, "-b", 'a{{"{{"}}b', url)
    assert ended.code == 0, ended.err
    ids = {uuid.UUID(seen.query["id"]) for seen in server.seen}
    assert len(ids) == 300
    assert sorted(int(seen.query["n"]) for seen in server.seen) == list(range(300))
    assert {seen.query["r"] for seen in server.seen} == {"5", "6", "7"}
    assert {seen.body for seen in server.seen} == {b"a{{b"}
    assert {seen.headers["content-length"] for seen in server.seen} == {"4"}


def test_braces_are_sent_as_they_stand_where_that_is_asked_for(torr, server):
    torr("run", "--requests", 1, *ONCE, "--verbatim", "-b", "{{seq}}", server.url)
    assert server.seen[0].body == b"{{seq}}"


def test_steps_carry_what_each_user_captured(torr):
    def answer(seen):
        if seen.path == "/login":
            return of_json({"token": f"t{seen.connection}-{len(server.seen)}"})
        return of_json({"user": seen.query["token"]})

    with recording(answer) as server:
        urls = [server.url + "/login", server.url + "/me?token={{token}}"]
        flags = ("--steps", "--capture", "token=json:$.token", "-c", 3, "--requests", 60)
        ended = torr("run", *flags, *ONCE, *urls)
    assert ended.code == 0, ended.err
    assert ended.level["counts"]["ok"] == 60
    issued = {}
    for number, seen in enumerate(server.seen, start=1):
        if seen.path == "/login":
            assert seen.connection not in issued, "a user logs in again before the last step"
            issued[seen.connection] = f"t{seen.connection}-{number}"
        else:
            assert seen.query["token"] == issued.pop(seen.connection)
    assert {seen.connection for seen in server.seen} == {1, 2, 3}


@pytest.mark.parametrize(
    ("flag", "answer"),
    [
        ("id=header:X-Id", lambda: (200, {"x-id": "abc"}, b"")),
        (r"id=regex:/id=(\w+)/", lambda: (200, {}, b"<a id=abc>")),
    ],
)
def test_a_value_is_captured_from_head_and_text(torr, flag, answer):
    with recording(lambda _seen: answer()) as server:
        urls = [server.url + "/a", server.url + "/b/{{id}}"]
        ended = torr("run", "--steps", "--capture", flag, "--requests", 2, "-c", 1, *ONCE, *urls)
    assert ended.code == 0, ended.err
    assert [seen.path for seen in server.seen] == ["/a", "/b/abc"]


def test_answers_that_say_the_wrong_thing_are_errors_of_class_check(torr):
    def answer(_seen):
        return of_json({"status": "ok" if len(server.seen) % 2 else "bad", "n": 1})

    flags = {
        "json": ("--expect-json", "$.status=ok"),
        "text": ("--expect-body", '"ok"'),
        "expression": ("--expect-body", '/"(ok|fine)"/'),
    }
    for flag in flags.values():
        with recording(answer) as server:
            ended = torr("run", "--requests", 20, "-c", 1, *ONCE, *flag, server.url)
        assert ended.code == 0, ended.err
        counts = ended.level["counts"]
        assert (counts["ok"], counts["errors"]) == (10, {"check": 10})


def test_a_compressed_answer_is_decoded_for_its_checks(torr):
    body = gzip.compress(json.dumps({"status": "ok", "more": "x" * 1000}).encode())

    def answer(seen):
        assert "gzip" in seen.headers["accept-encoding"]
        return 200, {"content-encoding": "gzip"}, body

    with recording(answer) as server:
        flags = ("--compressed", "--expect-json", "status=ok")
        ended = torr("run", "--requests", 10, "-c", 2, *ONCE, *flags, server.url)
    assert ended.code == 0, ended.err
    assert ended.level["counts"]["ok"] == 10
    sent = [seen.headers["accept-encoding"] for seen in server.seen]
    assert sent == ["gzip, deflate"] * 10


def test_a_file_by_hand_is_sent_as_written(torr, server):
    file = EXAMPLES / "shop.http"
    flags = ("--requests", 30, "-c", 2, *ONCE)
    ended = torr("run", *flags, "--requests-file", file, server.url)
    assert ended.code == 0, ended.err
    assert Counter(seen.path for seen in server.seen) == {"/": 10, "/items": 10, "/orders": 10}
    for seen in server.of("/items"):
        assert 1 <= int(seen.query["page"]) <= 20
    for seen in server.of("/orders"):
        assert seen.method == "POST"
        assert json.loads(seen.body)["item"] == 7
        assert uuid.UUID(seen.headers["x-request-id"])
    assert set(rows(ended.level)) == {"GET /", "GET /items", "POST /orders"}


def test_a_file_of_json_lines_has_names_and_weights(judged_torr, server):
    file = EXAMPLES / "mix.jsonl"
    flags = ("--requests", 1200, "-c", 4, *ONCE, "--slo", "items: p50 < 60s")
    ended = judged_torr("run", *flags, "--requests-file", file, server.url)
    assert ended.code == 0, ended.err
    counts = {name: row["ok"] for name, row in rows(ended.level).items()}
    assert set(counts) == {"front page", "items", "order"}
    assert sum(counts.values()) == 1200
    # 100, 300 and 800 are expected; 80 is eight standard deviations of the first.
    assert 20 < counts["order"] < 180 < counts["items"] < 420 < counts["front page"]


def test_a_har_file_goes_where_it_was_recorded(torr, server, tmp_path):
    headers = [{"name": "Host", "value": "elsewhere"}, {"name": "Cookie", "value": "a=b"}]
    request = {"method": "GET", "url": server.url + "/a", "headers": headers}
    (tmp_path / "x.har").write_text(json.dumps({"log": {"entries": [{"request": request}]}}))
    ended = torr("run", "--requests", 2, *ONCE, "--requests-file", "x.har")
    assert ended.code == 0, ended.err
    assert [seen.headers["cookie"] for seen in server.seen] == ["a=b"] * 2
    assert {seen.headers["host"] for seen in server.seen} == {server.place}


@pytest.mark.full
def test_a_ladder_climbs_with_a_mix(torr, server):
    urls = [server.url + path for path in ("/a", "/b")]
    ended = torr("ladder", "--levels", "2,4", "-z", "300ms", "--warmup", "0s", *urls)
    assert ended.code == 0, ended.err
    for level in ended.result["levels"]:
        assert set(rows(level)) == {"GET /a", "GET /b"}


def test_once_fills_a_template(torr, server):
    ended = torr("run", "--once", "-v", server.url + "/{{rand 7 7}}")
    assert ended.code == 0, ended.err
    assert "> GET /7 HTTP/1.1" in ended.out
