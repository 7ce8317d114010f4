"""`--grpc` becomes a request with the bytes of its messages, over HTTP/2."""

from __future__ import annotations

import base64
import gzip
import json
import shutil
from pathlib import Path

import pytest

from torr.planning.grpc import _timeout
from torr.results.exchange import Exchange, ResponseHead
from written import files_with

URL = "http://127.0.0.1:9"
SHOP = Path(__file__).parents[1] / "grpc" / "shop.proto"
PROTO = ("--proto", "shop.proto")
ADD = ("--grpc", "shop.Cart/Add", *PROTO)
ANN = b"\x00\x00\x00\x00\x05\x0a\x03ann"


@pytest.fixture(autouse=True)
def folder(tmp_path):
    shutil.copy(SHOP, tmp_path)
    return tmp_path


@pytest.fixture
def planned(torr, fake):
    """The plan that the engine gets for flags."""

    def call(*flags, verb="run"):
        fake.loads.clear()
        ended = torr(verb, *flags)
        assert ended.code in (0, 1), ended.err
        return fake.loads[0].plan.as_json()

    return call


@pytest.fixture
def call(planned):
    """The one request of a load."""

    def of(*flags, verb="run"):
        return planned(*flags, verb=verb)["groups"][0]["source"]["request"]

    return of


def body_of(request):
    return base64.b64decode(request["body"])


def test_a_call_is_a_post_with_framed_bytes(call):
    request = call(*ADD, "-b", '{"name": "ann"}', "-H", "X-User: u", URL)
    assert request["name"] == "shop.Cart/Add"
    assert (request["method"], request["url"]) == ("POST", f"{URL}/shop.Cart/Add")
    assert request["headers"] == [
        ["te", "trailers"],
        ["content-type", "application/grpc"],
        ["grpc-timeout", "30000m"],
        ["grpc-accept-encoding", "identity"],
        ["user-agent", "torr/0.1.0"],
        ["x-user", "u"],
    ]
    assert body_of(request) == ANN
    assert request["accept_statuses"] == [[200, 200]]
    assert request["grpc"] == {
        "response_stream": False,
        "sending": {"kind": "together"},
        "messages": None,
    }
    assert not {"template", "stream"} & set(request)


def test_a_message_may_come_from_a_file_or_be_missing(call, folder):
    (folder / "ann.json").write_text('{"name": "ann"}')
    assert body_of(call(*ADD, "-b", "@ann.json", URL)) == ANN
    assert body_of(call(*ADD, "--json-body", '{"name": "ann"}', URL)) == ANN
    assert body_of(call(*ADD, URL)) == b"\x00\x00\x00\x00\x00"
    (folder / "two.jsonl").write_text('{"name": "ann"}\n{"name": "ann"}\n')
    fill = ("--grpc", "shop.Cart/Fill", *PROTO, "-b", "@two.jsonl", URL)
    assert body_of(call(*fill)) == 2 * ANN


def test_templates_become_parts(call, folder):
    (folder / "rows.csv").write_text("id\n7\n")
    body = '{"part": {"id": "{{row.id}}", "name": "n{{seq}}"}, "id": 1}'
    request = call(*ADD, "-b", body, "--data", "rows.csv", URL)
    assert request["body"] is None
    assert request["template"] is True
    nested = [
        {"kind": "bytes", "base64": "Cg=="},
        {"kind": "nested", "parts": [{"kind": "text", "text": "n{{seq}}"}]},
        {"kind": "bytes", "base64": "EA=="},
        {"kind": "number", "text": "{{row.id}}", "as": "int64"},
    ]
    assert request["grpc"]["messages"] == [
        [{"kind": "bytes", "base64": "EAEi"}, {"kind": "nested", "parts": nested}]
    ]


def test_braces_are_sent_as_they_are_if_that_is_asked_for(call):
    request = call(*ADD, "-b", '{"name": "{{seq}}"}', "--verbatim", URL)
    assert body_of(request).endswith(b"{{seq}}")
    assert "template" not in request


@pytest.mark.parametrize(
    ("method", "flags", "sending", "streams"),
    [
        ("Add", (), {"kind": "together"}, False),
        ("Watch", (), {"kind": "together"}, True),
        ("Fill", (), {"kind": "together"}, False),
        ("Chat", (), {"kind": "alternate"}, True),
        ("Chat", ("--send-together",), {"kind": "together"}, True),
        ("Fill", ("--message-interval", "5ms"), {"kind": "paced", "interval_ns": 5_000_000}, False),
        ("Chat", ("--message-interval", "1s"), {"kind": "paced", "interval_ns": 10**9}, True),
    ],
)
def test_messages_are_sent_as_the_method_has_them(call, method, flags, sending, streams):
    request = call("--grpc", f"shop.Cart/{method}", *PROTO, *flags, URL)
    assert request["grpc"]["sending"] == sending
    assert request["grpc"]["response_stream"] is streams
    assert request.get("stream") == ({"dialect": "grpc"} if streams else None)


def test_an_slo_of_messages_needs_calls_whose_messages_are_answered_one_by_one(call, torr):
    slo = ("--slo", "message p95 < 1s", "--slo", "window_wait p50 < 1s", URL)
    assert call("--grpc", "shop.Cart/Chat", *PROTO, *slo)["grpc"]["sending"]["kind"] == "alternate"
    for method, *flags in (("Watch",), ("Chat", "--send-together")):
        ended = torr("run", "--grpc", f"shop.Cart/{method}", *PROTO, *flags, *slo)
        assert ended.code == 2
        assert "only gRPC calls whose messages alternate or are paced have message" in ended.err


def test_a_stream_of_responses_takes_options_of_streams(call):
    flags = ("--idle-timeout", "2s", "--from", "intended", "--slo", "ttfe p50 < 1s")
    request = call("--grpc", "shop.Cart/Watch", *PROTO, *flags, URL)
    assert request["stream"] == {
        "dialect": "grpc",
        "idle_timeout_ns": 2_000_000_000,
        "from_intended": True,
    }
    assert request["limits"] == [{"metric": "ttfe", "limit_ns": 10**9, "inclusive": False}]


def test_messages_are_compressed_if_that_is_asked_for(call):
    request = call(*ADD, "-b", '{"name": "ann"}', "--grpc-gzip", URL)
    body = body_of(request)
    assert (body[0], gzip.decompress(body[5:])) == (1, ANN[5:])
    assert ["grpc-encoding", "gzip"] in request["headers"]
    assert ["grpc-accept-encoding", "gzip"] in request["headers"]


def test_headers_of_the_user_replace_others_and_binary_ones_are_base64(call):
    own = ("-H", "Grpc-Timeout: 1S", "-H", "User-Agent: me", "-H", "trace-bin: a?", "-H", "TE: x")
    headers = call(*ADD, *own, URL)["headers"]
    assert headers[0] == ["content-type", "application/grpc"]
    assert headers[-4:] == [
        ["grpc-timeout", "1S"],
        ["user-agent", "me"],
        ["trace-bin", "YT8"],
        ["te", "x"],
    ]
    assert len(headers) == 6


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (30 * 10**9, "30000m"),
        (1_500_000, "1500000n"),
        (1, "1n"),
        (99_999_999_000_000, "99999999m"),
        (200_000 * 10**9, "200000S"),
        (10**8 * 10**9, "1666667M"),
        (2**63, "2562048H"),
        (100 * 10**8 * 3600 * 10**9, "99999999H"),
    ],
)
def test_a_timeout_has_at_most_eight_digits_and_a_unit(nanoseconds, text):
    assert _timeout(nanoseconds) == text


@pytest.mark.parametrize(
    ("flags", "url", "http"),
    [
        ((), URL, "2c"),
        ((), "https://localhost:9", "2"),
        (("--http", "2c"), URL, "2c"),
        (("--streams", "5"), URL, "2c"),
    ],
)
def test_a_call_implies_http_2(planned, flags, url, http):
    assert planned(*ADD, *flags, url)["transport"]["http"] == http


def test_a_ladder_and_several_servers_make_calls(planned):
    plan = planned(*ADD, "--levels", "1,2", URL, verb="ladder")
    assert plan["groups"][0]["source"]["request"]["name"] == "shop.Cart/Add"
    plan = planned(*ADD, "-c", "2", URL, "http://127.0.0.1:8")
    names = [group["source"]["request"]["name"] for group in plan["groups"]]
    assert names == ["127.0.0.1:9/shop.Cart/Add", "127.0.0.1:8/shop.Cart/Add"]


def test_a_call_over_a_unix_socket_goes_to_the_socket(call):
    request = call(*ADD, "unix:/run/shop.sock")
    assert (request["url"], request["unix_socket"]) == (
        *("http://localhost/shop.Cart/Add", "/run/shop.sock"),
    )


PLAN = """\
url = "http://127.0.0.1:9"
proto = "shop.proto"
message_interval = "1s"
%s

[[requests]]
name = "add"
grpc = "shop.Cart/Add"
json = { name = "ann" }
timeout = "2s"

[[requests]]
name = "fill"
grpc = "shop.Cart/Fill"
json = [{ name = "n{{seq}}" }, {}]

[[requests]]
name = "page"
url = "/"
"""


def test_requests_of_a_plan_file_are_calls(planned, folder):
    (folder / "plan.toml").write_text(PLAN % "")
    plan = planned("plan.toml")
    assert plan["transport"]["http"] == "2c"
    add, fill, page = plan["groups"][0]["source"]["requests"]
    assert (add["name"], body_of(add)) == ("add", ANN)
    assert ["grpc-timeout", "2000m"] in add["headers"]
    assert (add["timeout_ns"], add["grpc"]["sending"]["kind"]) == (2_000_000_000, "together")
    assert fill["grpc"]["sending"] == {"kind": "paced", "interval_ns": 10**9}
    assert fill["grpc"]["messages"][0][1]["parts"] == [{"kind": "text", "text": "n{{seq}}"}]
    assert fill["grpc"]["messages"][1] == []
    assert "grpc" not in page


def test_requests_of_a_file_are_calls(planned, folder):
    lines = [{"grpc": "shop.Cart/Add", "json_body": {"name": "ann"}}, {"grpc": "shop.Cart/Fill"}]
    (folder / "r.jsonl").write_text("\n".join(map(json.dumps, lines)))
    plan = planned("--requests-file", "r.jsonl", *PROTO, URL)
    first, second = plan["groups"][0]["source"]["requests"]
    assert (first["name"], body_of(first)) == ("shop.Cart/Add", ANN)
    assert second["name"] == "shop.Cart/Fill"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (PLAN % "send_together = true", "plan.toml:2: --message-interval and --send-together"),
        (PLAN.replace("{{seq}}", "{{") % "", "plan.toml:12: [0].name: '{{' is not an expression"),
        (PLAN.replace("Cart/Fill", "Cart/Fil") % "", "plan.toml:12: shop.proto has no method"),
        (PLAN.replace("shop.Cart/Fill", "Fill") % "", "plan.toml:12: 'Fill' is not the name of a"),
        (PLAN.replace("json = {", 'method = "PUT"\njson = {') % "", "plan.toml:6: method and grpc"),
        (PLAN.replace("json = {", 'stream = "sse"\njson = {') % "", "plan.toml:6: stream and grpc"),
        (
            'proto = "shop.proto"\n[[requests]]\nname = "a"\nurl = "http://h/"\n',
            "plan.toml:1: --pr",
        ),
    ],
)
def test_errors_of_a_plan_file_have_a_line(torr, folder, text, says):
    (folder / "plan.toml").write_text(text)
    ended = torr("run", "plan.toml")
    assert (ended.code, says in ended.err) == (2, True), ended.err


@pytest.mark.parametrize(
    ("flags", "says", "hint"),
    [
        (
            ("--grpc", "a.B/C", URL),
            "--grpc: the types of the messages are not known",
            "add --proto",
        ),
        ((*ADD, "--reflection", URL), "--reflection and --proto are both given", "leave one out"),
        (
            (*ADD, "--descriptor-set", "shop.proto", URL),
            "--descriptor-set and --proto are both",
            "",
        ),
        (
            ("--grpc", "a.B/C", "--reflection", "--proto-path", ".", URL),
            "--proto-path needs",
            "add",
        ),
        (("--grpc", "a.B/C", "--descriptor-set", "shop.proto", URL), "is not a descriptor set", ""),
        ((*PROTO, URL), "--proto needs --grpc", "add --grpc package.Service/Method"),
        (("--grpc-gzip", URL), "--grpc-gzip needs --grpc", "add --grpc"),
        ((*ADD, "--proto-path", "none", URL), "none is not a folder", ""),
        ((*ADD, "--http", "1.1", URL), "--grpc and --http 1.1 are both given", "leave --http out"),
        ((*ADD, "--http", "auto", URL), "--grpc and --http auto are both given", "leave --http"),
        ((*ADD, "--http", "2", URL), "--http 2: http://127.0.0.1:9/shop.Cart/Add has", "2c"),
        (
            (*ADD, f"{URL}/api"),
            "has a path, and that of a call is its method",
            "leave the path out",
        ),
        ((*ADD, "-m", "PUT", URL), "-m/--method and --grpc are both given", "leave one out"),
        ((*ADD, "--compressed", URL), "--compressed and --grpc are both given", "leave one out"),
        ((*ADD, "--stream", "sse", URL), "--stream and --grpc are both given", "leave one out"),
        ((*ADD, "--alias", "aiperf", URL), "--alias and --grpc are both given", "leave one out"),
        (("--grpc", "a.B/C", "--chat", "dify", URL), "--grpc and --chat are both given", "leave"),
        ((*ADD, "--requests-file", "shop.proto", URL), "--grpc and --requests-file", "leave one"),
        ((*ADD, "--expect-body", "a", URL), "--expect-body and --expect-json do not fit", "is OK"),
        ((*ADD, "--expect-status", "2xx", URL), "--expect-status does not fit a call", "is OK"),
        ((*ADD, "--capture", "a=json:b", URL), "torr captures only headers", "header:FIELD"),
        ((*ADD, "-H", "a-bin: {{seq}}", URL), "the header a-bin is binary", "without {{…}}"),
        ((*ADD, "--grpc-gzip", "-b", '{"name": "{{seq}}"}', URL), "does not compress", "leave"),
        ((*ADD, "--message-interval", "1s", URL), "no method takes a stream", "leave it out"),
        ((*ADD, "--send-together", URL), "--send-together: no method is bidirectional", "at once"),
        ((*ADD, "-b", "1", "--json-body", "2", URL), "-b/--body and --json-body", "give one body"),
        (
            (*ADD, "--idle-timeout", "1s", URL),
            "--idle-timeout needs a method whose response is a stream",
            "leave it out",
        ),
        (
            (*ADD, "--slo", "ttfe p95 < 1ms", URL),
            "only streams have ttfe",
            "choose a method whose response is a stream",
        ),
        (
            (*ADD, "--proxy", "http://127.0.0.1:1", URL),
            "--proxy does not fit HTTP/2 without TLS",
            "give https:// URLs",
        ),
    ],
)
def test_what_does_not_go_together_is_said(torr, fake, flags, says, hint):
    ended = torr("run", *flags)
    assert ended.code == 2, ended.err
    assert says in ended.err
    assert hint in ended.err
    assert not fake.loads


def test_a_header_can_be_captured(call):
    request = call(*ADD, "--capture", "a=header:x-id", URL)
    assert request["captures"] == [{"name": "a", "from": "header", "what": "x-id"}]


def test_the_server_is_asked_over_http_2_with_the_metadata_of_calls(torr, fake, monkeypatch):
    asked = []

    def once(plan):
        asked.append(plan.as_json())
        head = ResponseHead(version="2", status=200, fields=[("grpc-status", "12")])
        return Exchange(error_class="ok", status=200, head=head)

    monkeypatch.setattr("torr.engine.once", once)
    monkeypatch.setenv("API_KEY", "hush-hush")
    flags = ("--reflection", "-k", "-H", "x-key: k", "-H", "x-n: {{seq}}", "--streams", "9")
    flags += ("--token-env", "API_KEY")
    ended = torr("run", "--grpc", "shop.Cart/Add", *flags, "https://localhost:9")
    assert ended.err.startswith("torr: localhost:9 has no reflection\nhint: give --proto FILE")
    assert (ended.code, fake.loads) == (2, [])
    first, second = asked
    assert (first["transport"]["http"], first["transport"]["streams"]) == ("2", 1)
    assert first["transport"]["tls"]["insecure"] is True
    request = first["groups"][0]["source"]["request"]
    path = "grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
    assert request["url"] == f"https://localhost:9/{path}"
    assert request["headers"][-2:] == [["x-key", "k"], ["authorization", "Bearer hush-hush"]]
    assert (request["headers"][0], "grpc" in request) == (["te", "trailers"], False)
    assert ".v1alpha." in second["groups"][0]["source"]["request"]["url"]


PRIVATE = '{"name": "ann", "more": {"password": "hunter-22"}}'


def test_secrets_in_messages_stay_out_of_files(torr, fake, folder):
    ended = torr("run", *ADD, "-b", PRIVATE, "-d", "out", "-o", "json", URL)
    plan = json.loads(ended.out)["plan"]
    request = plan["groups"][0]["source"]["request"]
    assert body_of(request) == b"***"
    assert "hunter-22" not in ended.out + ended.err
    assert files_with(folder / "out", "hunter-22") == []
    assert b"hunter-22" in body_of(fake.loads[0].plan.as_json()["groups"][0]["source"]["request"])
    assert "hunter-22" in fake.loads[0].plan.secrets


def test_secrets_in_templates_of_messages_stay_out_of_files(torr, fake, folder):
    (folder / "rows.csv").write_text("pw\nhunter-22\n")
    body = PRIVATE.replace("ann", "{{row.pw}}")
    ended = torr("run", *ADD, "-b", body, "--data", "rows.csv", "-d", "out", "-o", "json", URL)
    request = json.loads(ended.out)["plan"]["groups"][0]["source"]["request"]
    assert request["grpc"]["messages"] == [[{"kind": "bytes", "base64": "Kioq"}]]
    assert "hunter-22" not in ended.out + ended.err
    assert files_with(folder / "out", "hunter-22") == []
    assert fake.loads


def test_messages_without_secrets_are_written_as_they_are(torr, fake):
    header = ("-H", "authorization: Bearer abcdefgh")
    ended = torr("run", *ADD, "-b", '{"name": "ann"}', *header, "-o", "json", URL)
    assert fake.loads
    request = json.loads(ended.out)["plan"]["groups"][0]["source"]["request"]
    assert body_of(request) == ANN
    assert ["authorization", "***"] in request["headers"]


MATRIX = """\
baseline = "one"
url = "http://127.0.0.1:{port}"
%s
[[candidates]]
name = "one"
command = ["no-such-server", "{port}"]
request = { json = { name = "ann" } }
"""


def test_a_comparison_makes_calls(torr, folder):
    (folder / "matrix.toml").write_text(MATRIX % 'grpc = "shop.Cart/Add"\nproto = "shop.proto"')
    ended = torr("compare", "--plan", "matrix.toml")
    assert ended.code == 0, ended.err
    assert "10 trials in 1 cell" in ended.out


def test_a_comparison_asks_no_server(torr, folder):
    (folder / "matrix.toml").write_text(MATRIX % 'grpc = "shop.Cart/Add"\nreflection = true')
    ended = torr("compare", "--plan", "matrix.toml")
    assert "matrix.toml:4: a comparison has no reflection" in ended.err
    assert "give proto or descriptor_set" in ended.err
