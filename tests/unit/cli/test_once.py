"""`torr run --once`: what it says of an answer that is not as expected."""

from torr.results.exchange import Exchange

ANSWER = b"HTTP/1.1 200 OK\r\n\r\n"


def test_json_that_differs_is_said_with_what_was_expected(torr, monkeypatch):
    exchange = Exchange(
        request=b"GET / HTTP/1.1\r\n\r\n",
        response=ANSWER + b'{"a": 2}',
        error_class="check",
        reason="check.json",
        detail="",
        status=200,
        address="127.0.0.1:1",
    )
    monkeypatch.setattr("torr.engine.once", lambda _plan: exchange)
    ended = torr("run", "--once", "--expect-json", "a=1", "http://127.0.0.1:1/")
    assert ended.out.splitlines()[-1] == 'expected $.a = 1; the body is {"a": 2}'
