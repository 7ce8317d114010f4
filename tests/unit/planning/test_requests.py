"""URLs and requests files become groups of named requests."""

from __future__ import annotations

import base64
import json

import pytest

from recorder import recording

URL = "http://127.0.0.1:9/x"
OTHER = "http://127.0.0.1:8/x"


def groups_of(fake):
    return fake.loads[0].plan.as_json()["groups"]


def source_of(fake):
    (group,) = groups_of(fake)
    return group["source"]


def requests_of(fake):
    source = source_of(fake)
    return source["requests"] if "requests" in source else [source["request"]]


def names(fake):
    return [request["name"] for request in requests_of(fake)]


@pytest.fixture
def file(tmp_path):
    """Write a requests file."""

    def write(name, text):
        (tmp_path / name).write_text(text)
        return name

    return write


def test_urls_of_one_endpoint_go_in_turn(torr, fake):
    assert torr("run", URL, "http://127.0.0.1:9/y", URL).code == 0
    assert source_of(fake)["kind"] == "turn"
    assert names(fake) == ["GET /x", "GET /y", "GET /x #2"]


def test_requests_that_are_called_the_same_without_their_secrets_are_told_apart(torr, fake):
    urls = [f"http://127.0.0.1:9/x;jsessionid=hush-{number}" for number in (1, 2)]
    torr("run", *urls)
    assert names(fake) == ["GET /x;jsessionid=***", "GET /x;jsessionid=*** #2"]


def test_a_great_many_requests_of_one_name_are_told_apart(torr, fake, file):
    lines = [json.dumps({"url": "/x", "name": "x #3"})] + [json.dumps({"url": "/x"})] * 2_000
    lines[7] = json.dumps({"url": "/x", "name": "GET /x #900"})
    torr("run", "--requests-file", file("r.jsonl", "\n".join(lines)), URL)
    found = names(fake)
    assert len(set(found)) == len(found) == 2_001
    assert found[:3] == ["x #3", "GET /x", "GET /x #2"]
    assert found[-1] == "GET /x #2000"


def test_weights_make_a_mix(torr, fake):
    torr("run", "--weights", "8,2", URL, "http://127.0.0.1:9/y")
    assert (source_of(fake)["kind"], source_of(fake)["weights"]) == ("weighted", [8, 2])


def test_steps_are_each_users_own(torr, fake):
    login, me = URL, "http://127.0.0.1:9/me?id={{id}}"
    torr("run", "--steps", "--capture", "id=json:$.id", login, me)
    assert source_of(fake)["kind"] == "steps"
    first, second = requests_of(fake)
    assert first["captures"] == [{"name": "id", "from": "json", "what": "$.id"}]
    assert "captures" not in second
    assert "template" not in first
    assert second["template"]


def test_endpoints_get_users_by_weight_and_names_of_their_own(torr, fake):
    torr("run", "-c", "10", "--weights", "3,1,1", URL, OTHER, "http://127.0.0.1:9/y")
    one, other = groups_of(fake)
    assert (one["name"], one["pace"]["users"]) == ("127.0.0.1:9", 8)
    assert (other["name"], other["pace"]["users"]) == ("127.0.0.1:8", 2)
    assert [request["name"] for request in one["source"]["requests"]] == [
        "GET 127.0.0.1:9/x",
        "GET /y",
    ]
    assert one["source"]["weights"] == [3, 1]
    assert other["source"]["request"]["name"] == "GET 127.0.0.1:8/x"


def test_a_rate_is_dealt_over_endpoints(torr, fake):
    torr("run", "--rate", "100", "--weights", "3,1", URL, OTHER)
    paces = [group["pace"] for group in groups_of(fake)]
    assert [(pace["rate_per_s"], pace["connections"]) for pace in paces] == [(75, 75), (25, 25)]


def test_a_ladder_over_endpoints_keeps_how_they_are_dealt(torr, fake):
    assert torr("ladder", "--levels", "4,40", "--weights", "3,1", URL, OTHER).code == 0
    users = [[g.pace.users for g in load.plan.groups] for load in fake.loads]
    assert users == [[3, 1], [30, 10]]


def test_a_socket_is_a_place_of_its_own(torr, fake):
    torr("run", "unix:/run/app.sock:/x")
    (request,) = requests_of(fake)
    assert (request["url"], request["unix_socket"]) == ("http://localhost/x", "/run/app.sock")
    assert request["name"] == "GET /x"


def test_a_proxy_reaches_the_plan_and_its_password_no_file(torr, fake, tmp_path):
    torr("run", "--proxy", "http://ann:hush@127.0.0.1:3128", URL)
    proxy = fake.loads[0].plan.as_json()["transport"]["proxy"]
    assert (proxy["host"], proxy["port"]) == ("127.0.0.1", 3128)
    kept = (tmp_path / "_output/torr/latest/result.json").read_text()
    for secret in ("hush", base64.b64encode(b"ann:hush").decode()):
        assert secret not in kept


def test_checks_and_compression_reach_every_request(torr, fake):
    flags = ["--expect-body", "ok", "--expect-body", "/a.b/", "--expect-json", "$.n=1"]
    torr("run", *flags, "--compressed", URL, "http://127.0.0.1:9/y")
    for request in requests_of(fake):
        assert [check["kind"] for check in request["expect_body"]] == ["text", "regex"]
        assert request["expect_json"] == [{"path": "$.n", "value": 1}]
        assert request["compressed"]


def test_secrets_of_checks_reach_the_engine_and_no_file(torr, fake, tmp_path):
    body, document = '"access_token":"hush"', '$.user={"password":"hush"}'
    assert torr("run", "--expect-body", body, "--expect-json", document, URL).code == 0
    assert json.dumps(requests_of(fake)).count("hush") == 2
    assert "hush" not in (tmp_path / "_output/torr/latest/result.json").read_text()


def test_rows_fill_templates(torr, fake, file, tmp_path):
    data = file("users.csv", "user,team\nann,1\n")
    torr("run", "--data", data, "-H", "x-user: {{row.user}}", URL + "?t={{ row.team | url }}")
    (group,) = groups_of(fake)
    assert group["data"] == {"path": str(tmp_path / "users.csv")}
    (request,) = requests_of(fake)
    assert request["template"]
    assert request["url"] == URL + "?t={{ row.team | url }}"


def test_only_the_group_that_uses_rows_gets_them(torr, fake, file):
    torr("run", "--data", file("u.csv", "user\nann\n"), URL, OTHER + "/{{row.user}}")
    assert ["data" in group for group in groups_of(fake)] == [False, True]


def numbers(fake):
    """The first number and the stride of each group."""
    return [(group.get("first", 0), group.get("stride", 1)) for group in groups_of(fake)]


THIRD = "http://127.0.0.1:7/x"


@pytest.mark.parametrize(
    ("urls", "found"),
    [
        ([URL + "/{{seq}}"], [(0, 1)]),
        ([URL, OTHER], [(0, 1), (0, 1)]),
        ([URL + "/{{seq}}", OTHER + "/{{seq}}"], [(0, 2), (1, 2)]),
        ([URL + "/{{seq}}", OTHER, THIRD + "/{{seq}}"], [(0, 2), (0, 1), (1, 2)]),
        ([URL + "/{{seq}}", OTHER + "/{{row.user}}"], [(0, 1), (0, 1)]),
        (
            [URL + "/{{seq}}", OTHER + "/{{row.user}}", THIRD + "/{{seq}}/{{row.user}}"],
            [(0, 3), (1, 3), (2, 3)],
        ),
    ],
)
def test_groups_draw_no_row_or_number_twice(torr, fake, file, urls, found):
    data = ["--data", file("u.csv", "user\nann\n")] if "row" in "".join(urls) else []
    assert torr("run", *data, *urls).code == 0
    assert numbers(fake) == found
    if found[0] == (0, 1):
        assert not {"first", "stride"} & set(groups_of(fake)[0])


@pytest.mark.parametrize("load", [["--stages", "3s:10"], ["--rate", "9", "--stages", "3s:10"]])
def test_groups_with_stages_keep_their_first_user(torr, fake, load):
    assert torr("run", *load, URL + "/{{seq}}", OTHER + "/{{seq}}").code == 0
    assert numbers(fake) == [(0, 1), (0, 1)]


def test_levels_of_a_ladder_and_its_result_keep_where_groups_begin(torr, fake, tmp_path):
    torr("ladder", "--levels", "4,40", URL + "/{{seq}}", OTHER + "/{{seq}}")
    kept = json.loads((tmp_path / "_output/torr/latest/result.json").read_text())["plan"]
    for plan in (kept, *(load.plan.as_json() for load in fake.loads)):
        assert [(g.get("first"), g.get("stride")) for g in plan["groups"]] == [(0, 2), (1, 2)]


def test_verbatim_sends_braces(torr, fake):
    torr("run", "--verbatim", "-b", "{{x}}", URL)
    (request,) = requests_of(fake)
    assert "template" not in request
    assert base64.b64decode(request["body"]) == b"{{x}}"


def test_a_file_of_requests_is_sent_to_the_url(torr, fake, file):
    path = file("r.http", "GET /a\nx-a: 1\n\nDELETE /b\n")
    torr("run", "--requests-file", path, "-H", "x-a: 2", "--basic-auth", "ann:pw", URL)
    first, second = requests_of(fake)
    assert (first["url"], second["url"]) == ("http://127.0.0.1:9/a", "http://127.0.0.1:9/b")
    assert (first["method"], second["method"]) == ("GET", "DELETE")
    assert [h for h in first["headers"] if h[0] == "x-a"] == [["x-a", "1"]]
    assert [h for h in second["headers"] if h[0] == "x-a"] == [["x-a", "2"]]
    assert all(any(h[0] == "authorization" for h in r["headers"]) for r in (first, second))


def test_a_user_of_the_url_is_the_user_of_the_files_requests(torr, fake, file):
    torr("run", "--requests-file", file("r.http", "GET /a\n"), "http://ann:pw@127.0.0.1:9")
    (request,) = requests_of(fake)
    assert ["authorization", "Basic YW5uOnB3"] in request["headers"]


def test_a_file_of_whole_urls_needs_none(torr, fake, file):
    assert torr("run", "--requests-file", file("r.http", f"GET {URL}\n")).code == 0
    assert source_of(fake)["kind"] == "one"


def test_a_file_says_more_than_flags_do(torr, fake, file):
    lines = [
        {"url": "/a", "name": "first", "weight": 8, "timeout": "5s", "expect_status": "404"},
        {"url": "/b", "expect_body": "x"},
    ]
    path = file("r.jsonl", "\n".join(map(json.dumps, lines)))
    flags = ["--timeout", "9s", "--expect-status", "200", "--expect-body", "y"]
    torr("run", "--requests-file", path, *flags, "--slo", "first: p99 < 1s", URL)
    assert source_of(fake)["weights"] == [8, 1]
    first, second = requests_of(fake)
    assert (first["name"], second["name"]) == ("first", "GET /b")
    assert (first["timeout_ns"], second["timeout_ns"]) == (5 * 10**9, 9 * 10**9)
    assert (first["accept_statuses"], second["accept_statuses"]) == ([[404, 404]], [[200, 200]])
    texts = [[c["text"] for c in request["expect_body"]] for request in (first, second)]
    assert texts == [["y"], ["x", "y"]]
    assert fake.loads[0].plan.drain_ns == 9 * 10**9


def test_what_is_left_out_of_a_har_file_is_said(torr, fake, file):
    requests = [{"method": "GET", "url": url} for url in (URL, "data:,x")]
    document = {"log": {"entries": [{"request": request} for request in requests]}}
    ended = torr("run", "-q", "--requests-file", file("r.har", json.dumps(document)))
    assert ended.code == 0
    assert ended.err == "note: r.har: 1 entry is not http, left out\n"
    assert names(fake) == ["GET /x"]


def test_what_fills_json_of_a_file_is_quoted(torr, fake, file):
    file("u.csv", "user\nann\n")
    line = {"url": "/", "json_body": {"user": "{{row.user}}", "id": "{{row.user | url}}"}}
    path = file("r.jsonl", json.dumps(line))
    assert torr("run", "--data", "u.csv", "--requests-file", path, URL).code == 0
    sent = base64.b64decode(requests_of(fake)[0]["body"])
    assert json.loads(sent) == {"user": "{{row.user | json}}", "id": "{{row.user | url}}"}


def test_once_shows_no_secret_header(torr):
    def answer(_seen):
        return 200, {"set-cookie": "id=c0ffee", "x-plain": "seen"}, b"{}"

    with recording(answer) as server:
        ended = torr("run", "--once", "-v", "-H", "Authorization: Bearer sk-1", server.url)
    assert ended.code == 0, ended.err
    assert server.seen[0].headers["authorization"] == "Bearer sk-1"
    assert "> Authorization: ***\n" in ended.out
    assert "< set-cookie: ***\n" in ended.out
    assert "< x-plain: seen\n" in ended.out
    assert "sk-1" not in ended.out
    assert "c0ffee" not in ended.out


@pytest.mark.parametrize(
    ("headers", "body", "code", "line"),
    [
        ({}, b"\x1b[2Jbody", 0, "\\x1b[2Jbody"),
        # The engine refuses such a header, and torr shows what came.
        ({"x-title": "\x1b]0;red\x07"}, b"", 3, "< x-title: \\x1b]0;red\\x07"),
    ],
)
def test_once_shows_control_characters_as_escape_sequences(torr, headers, body, code, line):
    with recording(lambda _seen: (200, headers, body)) as server:
        ended = torr("run", "--once", "-v", server.url)
    assert ended.code == code, ended.err
    assert line in ended.out.splitlines()
    assert "\x1b" not in ended.out + ended.err


def test_once_sends_one_request(torr):
    ended = torr("run", "--once", URL, OTHER)
    assert ended.code == 2
    assert "--once sends one request, and 2 are given" in ended.err


BAD = {
    "weights": (["--weights", "1", URL, OTHER], "--weights: 1 weights for 2 requests"),
    "no weight": (["--weights", "1,0", URL, OTHER], "--weights: '0' is not between 1 and"),
    "weighted steps": (
        ["--steps", "--weights", "1,2", URL, URL],
        "--steps and --weights are both given",
    ),
    "steps to two": (["--steps", URL, OTHER], "--steps: the requests go to 127.0.0.1:9 and 127"),
    "steps of arrivals": (
        ["--steps", "--rate", "5", URL, URL],
        "--rate and --steps or --capture are both given",
    ),
    "captures of arrivals": (
        ["--rate", "5", "--capture", "a=json:$.a", URL],
        "--rate and --steps or --capture are both given",
    ),
    "whose capture": (["--capture", "a=json:$.a", URL, URL], "--capture: there are several"),
    "few users": (["-c", "1", URL, OTHER], "1 user for 2 endpoints: each needs one"),
    "replay to two": (["--replay", "times", URL, OTHER], "the requests go to several endpoints"),
    "unknown name": ([URL + "/{{token}}"], "GET /x/{{token}}: {{token}} is unknown"),
    "no rows": ([URL + "/{{row.id}}"], "GET /x/{{row.id}}: {{row.id}} needs rows"),
    "no column": (["--data", "u.csv", URL + "/{{row.id}}"], "the data has no column 'id'"),
    "rows unused": (["--data", "u.csv", URL], "--data: no request uses its rows"),
    "no data": (["--data", "none.csv", URL], "--data: none.csv: No such file"),
    "a broken template": (
        [URL + "/{{row.id"],
        "'{{row.id' is not an expression {{…}} that torr knows",
    ),
    "a broken body": (
        ["-b", "{{row.id", URL],
        "'{{row.id' is not an expression {{…}} that torr knows",
    ),
    "a templated host": (["http://{{row.h}}/"], "the host cannot be a template"),
    "a capture": (["--capture", "token", URL], "--capture: 'token' is not a capture"),
    "a check": (["--expect-json", "status", URL], "--expect-json: 'status' is not PATH=VALUE"),
    "a proxied socket": (["--proxy", "http://h:1", "unix:/run/x"], "--proxy: a Unix socket"),
    "a proxy": (["--proxy", "h:1", URL], "--proxy: 'h:1' has no scheme"),
    "a socket": (["unix:"], "URL: 'unix:' names no socket"),
    "a method": (["-m", "PUT", "--requests-file", "r.http"], "-m/--method and --requests-file"),
    "a body": (["-b", "x", "--requests-file", "r.http"], "-b/--body and --requests-file are"),
    "a capture of a file": (
        ["--capture", "a=json:$.a", "--requests-file", "r.http"],
        "--capture and --requests-file are both given",
    ),
    "two bases": (["--requests-file", "r.http", URL, OTHER], "--requests-file and several URLs"),
    "no base": (["--requests-file", "r.http"], "r.http:1: /a is not a complete URL"),
    "no need": (["--requests-file", "whole.http", URL], "has a URL of its own"),
    "two weights": (
        ["--requests-file", "w.jsonl", "--weights", "5", URL],
        "--weights and weights in the file are both given",
    ),
    "a template of a file": (
        ["--requests-file", "t.http", URL],
        "t.http:1: {{rand}} does not have two bounds",
    ),
    "a broken file": (
        ["--requests-file", "u.csv", URL],
        "u.csv:1: 'user' does not begin a request",
    ),
    "no file": (["--requests-file", "none", URL], "--requests-file: none: No such file"),
    "an unknown name": (
        ["--requests-file", "r.http", "--slo", "login: p50 < 5ms", URL],
        "no request is named 'login'",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_sent_is_refused(name, torr, fake, file, tmp_path):
    file("times", "1\n2\n")
    file("u.csv", "user\nann\n")
    file("r.http", "GET /a\n")
    file("whole.http", "GET http://127.0.0.1:9/a\n")
    file("w.jsonl", '{"url": "/a", "weight": 2}')
    file("t.http", "GET /{{rand}}\n")
    arguments, says = BAD[name]
    ended = torr("run", *arguments)
    assert ended.code == 2
    assert says in ended.err
    assert len(ended.err.strip().splitlines()) <= 2
    assert fake.loads == []
    assert not (tmp_path / "_output").exists()
