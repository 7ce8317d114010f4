"""`torr run --once`: what it says of a response that is not as expected."""

from pathlib import Path

from torr.grpc.framing import framed
from torr.results.exchange import Exchange, ResponseHead


def test_json_that_differs_is_said_with_what_was_expected(torr, monkeypatch):
    exchange = Exchange(
        request=b"GET / HTTP/1.1\r\n\r\n",
        head=ResponseHead(version="1.1", status=200, reason="OK"),
        body=b'{"a": 2}',
        error_class="check",
        reason="check.json",
        detail="",
        status=200,
        address="127.0.0.1:1",
    )
    monkeypatch.setattr("torr.engine.once", lambda _plan: exchange)
    ended = torr("run", "--once", "--expect-json", "a=1", "http://127.0.0.1:1/")
    assert ended.out.splitlines()[-1] == 'expected $.a = 1; the body is {"a": 2}'
    assert (ended.code, ended.err) == (3, "torr: the response fails check.json\n")


def test_the_response_is_printed_with_its_head_its_body_and_its_trailers(torr, monkeypatch):
    exchange = Exchange(
        request=b"GET / HTTP/1.1\r\nHost: h\r\n\r\n",
        head=ResponseHead(version="1.1", status=200, reason="OK", fields=[("a", "1"), ("b", "2")]),
        body=b"two\nlines",
        trailers=[("grpc-status", "0")],
        error_class="ok",
        status=200,
        address="127.0.0.1:1",
    )
    monkeypatch.setattr("torr.engine.once", lambda _plan: exchange)
    ended = torr("run", "--once", "-v", "http://127.0.0.1:1/")
    received = ended.out.partition("< ")
    expected = "HTTP/1.1 200 OK\n< a: 1\n< b: 2\n<\ntwo\nlines\n< grpc-status: 0\n\n"
    assert received[2].startswith(expected)


def test_bytes_that_are_no_response_are_printed_as_they_are(torr, monkeypatch):
    exchange = Exchange(
        request=b"GET / HTTP/1.1\r\n\r\n",
        excerpt=b"SSH-2.0-x\r\nmore",
        error_class="protocol",
        reason="protocol.not_http",
        address="127.0.0.1:1",
    )
    monkeypatch.setattr("torr.engine.once", lambda _plan: exchange)
    ended = torr("run", "--once", "-v", "http://127.0.0.1:1/")
    assert "< SSH-2.0-x\n< more\n" in ended.out


SHOP = Path(__file__).parents[1] / "grpc" / "shop.proto"
WATCH = ("run", "--once", "--grpc", "shop.Cart/Watch", "--proto", str(SHOP))


def answered(monkeypatch, body, trailers, **more):
    """Let the engine answer a call, with the request as it was sent."""

    def once(plan):
        request = plan.requests[0]
        head = ResponseHead(version="2", status=200, fields=[("a", "b")])
        return Exchange(
            **{"error_class": "ok", "head": head, "status": 200, "address": "127.0.0.1:1", **more},
            request=b"POST /shop.Cart/Watch HTTP/2\r\nte: trailers\r\n\r\n" + request.body,
            body=body,
            trailers=trailers,
        )

    monkeypatch.setattr("torr.engine.once", once)


def test_a_call_is_printed_as_json_with_its_status(torr, monkeypatch):
    body = framed([b"\x0a\x02ok", b"\x10\x02"])
    answered(monkeypatch, body, [("grpc-status", "0")], service_ms=2)
    ended = torr(*WATCH, "-b", '{"name": "ann", "id": 7}', "http://127.0.0.1:1")
    shown = '{ "name": "ann", "id": "7" } { "text": "ok" } { "count": 2 } OK (0) from'
    assert ended.out.split()[: len(shown.split())] == shown.split()
    assert (ended.code, ended.err) == (0, "")
    ended = torr(*WATCH, "-v", "--grpc-gzip", "-b", '{"name": "ann"}', "http://127.0.0.1:1")
    assert ended.out.startswith('> POST /shop.Cart/Watch HTTP/2\n> te: trailers\n>\n{\n  "name"')
    assert '}\n\n< HTTP/2 200\n< a: b\n<\n{\n  "text": "ok"\n}' in ended.out
    assert "}\n< grpc-status: 0\n" in ended.out


def test_a_call_that_ends_with_another_status_fails_with_its_name(torr, monkeypatch):
    trailers = [("grpc-status", "5"), ("grpc-message", "no%20cart")]
    answered(monkeypatch, b"\x00", trailers, error_class="status", reason="status.grpc.5")
    ended = torr(*WATCH, "http://127.0.0.1:1")
    assert ended.out.splitlines()[1] == "(the last frame has no whole head)"
    assert ended.out.splitlines()[2].startswith("NOT_FOUND (5) from 127.0.0.1:1: ")
    assert (ended.code, ended.err) == (3, "torr: the call ended with NOT_FOUND (5): no cart\n")


def test_a_response_without_a_status_of_grpc_is_said(torr, monkeypatch):
    answered(monkeypatch, b"", [])
    ended = torr(*WATCH, "http://127.0.0.1:1")
    hint = "check that the server speaks gRPC at this port"
    assert ended.err == f"torr: the response has no grpc-status\nhint: {hint}\n"
