"""`torr run --once`: what it says of a response that is not as expected."""

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
