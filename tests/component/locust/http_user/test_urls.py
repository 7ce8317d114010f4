"""URLs as they are sent, and invalid URLs."""

import pytest

TARGETS = {
    "/": "/",
    "": "/",
    "?a=1": "/?a=1",
    "/a b": "/a%20b",
    "/a%20b": "/a%20b",
    "/grün": "/gr%C3%BCn",
    "/gr%c3%bcn": "/gr%C3%BCn",
    "/a%zz": "/a%25zz",
    "/a%": "/a%25",
    "/%7Euser/%2F": "/~user/%2F",
    "/a#part": "/a",
    "/a?b#part": "/a?b",
    "/a?": "/a",
    "/a??b=?": "/a??b=?",
    "/a?b=c d&e=ü": "/a?b=c%20d&e=%C3%BC",
    "/a?b=%26&c=+": "/a?b=%26&c=+",
    "/a/./b": "/a/b",
    "/a/../b": "/b",
    "/a//b": "/a//b",
    "//a": "//a",
    "/a;b=c": "/a;b=c",
    "/a|b^c`d": "/a%7Cb%5Ec%60d",
    "/[a]": "/%5Ba%5D",
    '/"quoted"<>': "/%22quoted%22%3C%3E",
    "/a\\b": "/a%5Cb",
    "/a:b@c!$&'()*,=": "/a:b@c!$&'()*,=",
    "/緑": "/%E7%B7%91",
    "/tab\there": "/tab%09here",
    "/new\nline": "/new%0Aline",
    "/end ": "/end%20",
}


@pytest.mark.parametrize("path", TARGETS)
def test_a_path_is_quoted(outcome, path):
    seen = outcome(lambda client: client.get(path))
    assert seen.request["line"] == f"GET {TARGETS[path]}"
    assert seen.event["name"] == TARGETS[path]


def test_a_space_before_a_path_is_part_of_the_host(outcome):
    seen = outcome(lambda client: client.get(" /space"))
    assert seen.raised["class"] == "requests.exceptions.InvalidURL"
    assert (seen.wire, seen.events) == ([], [])


BASES = {
    "a path": ("{url}/api", "/echo", "/api/echo"),
    "a slash at its end": ("{url}/", "/echo", "//echo"),
    "a query": ("{url}/?a=1&b=", "2", "/?a=1&b=2"),
    "capitals": ("HTTP://127.0.0.1:{port}", "/echo", "/echo"),
    "a name": ("http://localhost:{port}", "/echo", "/echo"),
    "space around": (" {url}", "/echo", "/echo"),
}


@pytest.mark.parametrize("base", BASES)
def test_the_host_of_a_user(outcome, site, base):
    host, path, target = BASES[base]
    host = host.format(url=site.url, port=site.port)
    seen = outcome(lambda client: client.get(path), host=host)
    assert seen.request["line"] == f"GET {target}"


def test_the_host_may_change(outcome, site):
    def scenario(client):
        client.get("/echo")
        client.base_url = site.other.url
        return client.get("/echo")

    assert outcome(scenario).value["url"] == f"{site.other.url}/echo"


@pytest.mark.parametrize("scheme", ["http", "HTTP", "hTTp"])
def test_a_whole_url_leaves_the_host_aside(outcome, site, scheme):
    url = f"{scheme}://127.0.0.1:{site.other.port}/echo"
    seen = outcome(lambda client: client.get(url))
    assert seen.value["url"] == f"{site.other.url}/echo"
    assert seen.event["name"] == "/echo"


def test_hosts_are_kept_apart(outcome, site):
    def scenario(client):
        for _ in range(2):
            client.get("/echo")
            client.get(f"{site.other.url}/echo")

    assert [one["connection"] for one in outcome(scenario).wire] == [1, 1, 2, 2]


WRONG = {
    "/path": "MissingSchema",
    "127.0.0.1/path": "MissingSchema",
    "http://": "InvalidURL",
    "http:///path": "InvalidURL",
    "http://127.0.0.1:port/": "InvalidURL",
    "http://127.0.0.1:99999/": "InvalidURL",
    "http://*.example.com/": "InvalidURL",
    "http://.example.com/": "InvalidURL",
    "http://[::1/": "InvalidURL",
    "http://a b/": "InvalidURL",
    "ftp://127.0.0.1/": "InvalidSchema",
    "ws://127.0.0.1/": "InvalidSchema",
    "localhost:80/": "InvalidSchema",
}


@pytest.mark.parametrize("url", WRONG)
def test_what_is_no_url_is_raised_to_the_caller(outcome, url):
    seen = outcome(lambda client: client.get(url), host="")
    assert seen.raised["class"] in (f"requests.exceptions.{WRONG[url]}", "builtins.ValueError")
    assert seen.events == []


def test_a_url_of_bytes(outcome, site):
    seen = outcome(lambda client: client.get(f"{site.url}/echo".encode()))
    assert seen.raised["class"] == "builtins.TypeError"


def test_a_url_that_is_no_text(outcome):
    seen = outcome(lambda client: client.get(5))
    assert seen.raised["class"] == "builtins.TypeError"


def test_a_name_that_nobody_has(outcome):
    seen = outcome(lambda client: client.get("http://no-such-name.invalid/"))
    assert seen.value["status"] == 0
    assert seen.value["error"]["class"] == "requests.exceptions.ConnectionError"
