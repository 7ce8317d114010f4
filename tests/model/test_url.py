"""URLs: what the engine gets, and what is refused with what to write instead."""

from __future__ import annotations

import pytest

from torr.errors import UsageError
from torr.model.url import Url


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("http://127.0.0.1:8080/healthz?x=1", "http://127.0.0.1:8080/healthz?x=1"),
        ("http://localhost", "http://localhost/"),
        ("HTTP://localhost?x=1", "http://localhost/?x=1"),
        ("http://[::1]:8080/a", "http://[::1]:8080/a"),
        ("http://[::1]", "http://[::1]/"),
        ("http://ann:pw@localhost/a", "http://localhost/a"),
        ("http://ann:p@w@localhost/a", "http://localhost/a"),
        ("http://localhost/a#part", "http://localhost/a"),
        ("http://localhost/ä?q=ö", "http://localhost/%C3%A4?q=%C3%B6"),
        ("http://localhost/a%20b", "http://localhost/a%20b"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
    ],
)
def test_a_url_is_written_as_the_engine_takes_it(text, written):
    assert str(Url.parse(text)) == written


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("localhost:8080/x", "has no scheme\nhint: write http://localhost:8080/x"),
        ("//localhost/", "has no scheme\nhint: write http://localhost/"),
        ("ftp://localhost/", "unknown scheme 'ftp'"),
        ("http:///path", "has no host"),
        ("http://", "has no host"),
        ("http://localhost:0/", "port 0 is not between 1 and 65535"),
        ("http://localhost:70000/", "port 70000 is not between 1 and 65535"),
        ("http://localhost:http/", "port http is not between"),
        ("http://localhost:/", "port missing is not between"),
        ("http://[::1/", "not closed"),
        ("http://[::1]x/", "not closed"),
        ("http://[nonsense]/", "'nonsense' is not an IPv6 address"),
        ("http://::1/", "goes in brackets"),
        ("http://local host/", "contains a space"),
        ("http://localhost/a b", "contains a space"),
        ("http://localhost/\r\nx: y", "control character"),
        ("http://a<b/", "'a<b' is not a host name"),
        ("http://" + "ü" * 80 + "/", "is not a host name"),
    ],
)
def test_what_is_wrong_with_a_url_is_said(text, says):
    with pytest.raises(UsageError) as error:
        Url.parse(text)
    assert says in str(error.value)
    assert repr(text) in str(error.value)


@pytest.mark.parametrize(
    ("host", "is_loopback"),
    [
        ("localhost", True),
        ("api.localhost", True),
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("[::1]", True),
        ("192.0.2.1", False),
        ("localhost.example", False),
    ],
)
def test_a_loopback_host_is_known_by_its_text(host, is_loopback):
    assert Url.parse(f"http://{host}/").is_loopback is is_loopback


def test_https_is_a_scheme_of_its_own():
    url = Url.parse("HTTPS://localhost/x")
    assert (url.scheme, url.port, str(url)) == ("https", None, "https://localhost/x")
