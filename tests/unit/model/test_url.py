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
        ("http://localhost/{{row.id}}?q={{ row.q | url }}&ä", None),
        ('http://localhost/{{"{{"}}/{{rand 1 9}}#part', 'http://localhost/{{"{{"}}/{{rand 1 9}}'),
        ("http://localhost/{a}", "http://localhost/%7Ba%7D"),
        ("ws://localhost:8080/chat?a=b", "ws://localhost:8080/chat?a=b"),
        ("WSS://localhost", "wss://localhost/"),
        ("unix:/run/app.sock", "http://localhost/"),
        ("unix:/run/app.sock:/a?b=c", "http://localhost/a?b=c"),
    ],
)
def test_a_url_is_written_as_the_engine_takes_it(text, written):
    assert str(Url.parse(text, messages=True)) == (written or text.replace("ä", "%C3%A4"))


@pytest.mark.parametrize(
    ("text", "socket", "target"),
    [
        ("unix:/run/app.sock", "/run/app.sock", "/"),
        ("unix:/run/app.sock:/a", "/run/app.sock", "/a"),
        ("unix:/run/a b.sock:/{{seq}}?x#y", "/run/a b.sock", "/{{seq}}?x"),
        ("unix:///run/app.sock:/", "/run/app.sock", "/"),
        ("unix:app.sock:/x", "app.sock", "/x"),
    ],
)
def test_a_socket_has_a_path_and_a_target(text, socket, target):
    url = Url.parse(text)
    assert (url.socket, url.target, url.host) == (socket, target, "localhost")
    assert url.is_loopback


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://a/x", "http://A:80/y", True),
        ("http://a/", "https://a/", False),
        ("http://a:1/", "http://a:2/", False),
        ("unix:/a", "unix:/a:/x", True),
        ("unix:/a", "unix:/b", False),
        ("unix:/a", "http://localhost/", False),
    ],
)
def test_an_endpoint_is_where_a_connection_leads(one, other, same):
    assert (Url.parse(one).endpoint == Url.parse(other).endpoint) is same


@pytest.mark.parametrize(
    ("base", "written"),
    [
        ("http://ann:pw@localhost:8080/api", "http://ann:pw@localhost:8080/x"),
        ("https://[::1]", "https://[::1]/x"),
        ("unix:/run/app.sock:/api", "unix:/run/app.sock:/x"),
    ],
)
def test_another_path_at_the_same_place(base, written):
    assert Url.parse(base).at("/x") == written


def test_braces_are_quoted_where_nothing_is_filled():
    assert Url.parse("http://h/{{a}}", templates=False).target == "/%7B%7Ba%7D%7D"


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
        ("http://{{row.host}}/", "the host cannot be a template"),
        ("http://ann{{x}}@h/", "the host cannot be a template"),
        ("unix:", "names no socket"),
        ("unix:/{{row.socket}}", "names no socket"),
        ("unix:/a:/b c", "contains a space"),
        ("http://h/{{a\nb}}", "control character"),
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


def test_only_a_load_has_urls_of_websocket():
    with pytest.raises(UsageError, match="ws:// is for the messages of a load"):
        Url.parse("ws://localhost/")
