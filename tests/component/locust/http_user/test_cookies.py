"""Cookies: the jar of a user, and the requests that its cookies are sent with."""

import pytest
import requests


def sent(outcome):
    return [dict(one["headers"]).get("Cookie") for one in outcome.wire]


def test_a_cookie_that_was_set_comes_back(outcome):
    def scenario(client):
        first = client.get("/cookies/set?a=1;Path=/&b=2;Path=/")
        client.get("/echo")
        return first.cookies.get_dict()

    seen = outcome(scenario)
    assert sent(seen) == [None, "a=1; b=2"]
    assert seen.value == {"a": "1", "b": "2"}


def test_the_jar_can_be_read_and_written(outcome):
    def scenario(client):
        client.cookies.set("mine", "1")
        client.cookies["other"] = "2"
        client.get("/cookies/set?a=3;Path=/")
        client.get("/echo")
        del client.cookies["other"]
        client.get("/echo")
        client.cookies.clear()
        client.get("/echo")
        return dict(client.cookies)

    seen = outcome(scenario)
    assert "mine=1" in sent(seen)[1]
    assert sent(seen)[3] is None


def test_the_jar_may_be_replaced_by_a_dict(outcome):
    def scenario(client):
        client.cookies = requests.cookies.cookiejar_from_dict({"a": "1"})
        client.get("/echo")
        client.cookies.update({"b": "2"})
        client.get("/echo")

    assert sent(outcome(scenario)) == ["a=1", "a=1; b=2"]


def test_each_user_has_a_jar_of_its_own(outcome):
    def scenario(client):
        client.get("/cookies/set?a=1;Path=/")
        other = type(client.user)(client.user.environment)
        other.client.get("/echo")
        client.get("/echo")

    assert sent(outcome(scenario)) == [None, None, "a=1"]


def test_a_cookie_of_one_request_is_not_kept(outcome):
    def scenario(client):
        client.get("/echo", cookies={"once": "1"})
        client.get("/echo")

    assert sent(outcome(scenario)) == ["once=1", None]


def test_a_cookie_of_one_request_beside_the_jar(outcome):
    def scenario(client):
        client.cookies.set("kept", "1")
        client.get("/echo", cookies={"once": "2", "kept": "3"})
        return client.cookies.get_dict()

    seen = outcome(scenario)
    assert sent(seen) == ["kept=3; once=2"]
    assert seen.value == {"kept": "1"}


def test_a_cookie_is_set_on_the_way_of_a_redirect(outcome):
    def scenario(client):
        answer = client.get("/cookies-on-the-way")
        return answer.cookies.get_dict(), client.cookies.get_dict()

    seen = outcome(scenario)
    assert sent(seen) == [None, "found=onthe"]
    assert seen.value == [{}, {"found": "onthe"}]


SCOPES = {
    "another path": ("a=1;Path=/elsewhere", None),
    "the path above": ("a=1;Path=/", "a=1"),
    "no path": ("a=1", None),
    "another domain": ("a=1;Domain=example.com;Path=/", None),
    "this domain": ("a=1;Domain=127.0.0.1;Path=/", "a=1"),
    "only over TLS": ("a=1;Secure;Path=/", None),
    "not for scripts": ("a=1;HttpOnly;Path=/", "a=1"),
    "the same site": ("a=1;SameSite=Strict;Path=/", "a=1"),
    "already over": ("a=1;Max-Age=0;Path=/", None),
    "past": ("a=1;Expires=Thu,+01+Jan+1970+00:00:00+GMT;Path=/", None),
    "far": ("a=1;Expires=Fri,+31+Dec+2100+00:00:00+GMT;Path=/", "a=1"),
    "a space in it": ("a=b+c;Path=/", "a=b c"),
    "no value": ("a=;Path=/", "a="),
    "no name": ("=1;Path=/", None),
    "nothing": ("", None),
    "an equals sign in it": ("a=b=c;Path=/", "a=b=c"),
    "umlauts": ("a=gr%C3%BCn;Path=/", "a=gr%C3%BCn"),
}


@pytest.mark.parametrize("scope", SCOPES)
def test_the_scope_of_a_cookie(outcome, scope):
    line, comes_back = SCOPES[scope]

    def scenario(client):
        client.get(f"/cookies/set?{line}")
        client.get("/echo")

    assert sent(outcome(scenario))[1] == comes_back


def test_a_cookie_that_is_set_again_is_replaced(outcome):
    def scenario(client):
        client.get("/cookies/set?a=1;Path=/")
        client.get("/cookies/set?a=2;Path=/")
        client.get("/cookies/set?a=2;Path=/;Max-Age=0")
        client.get("/echo")

    assert sent(outcome(scenario)) == [None, "a=1", "a=2", None]


def test_a_cookie_of_another_port_of_the_host(outcome, site):
    def scenario(client):
        client.get("/cookies/set?a=1;Path=/")
        client.get(f"{site.other.url}/echo")

    assert sent(outcome(scenario)) == [None, "a=1"]


def test_a_cookie_header_by_hand(outcome):
    def scenario(client):
        client.get("/echo", headers={"Cookie": "by=hand"})
        client.cookies.set("jar", "1")
        client.get("/echo", headers={"Cookie": "by=hand"})

    assert sent(outcome(scenario))[0] == "by=hand"


def test_a_jar_as_cookies_of_a_request(outcome):
    def scenario(client):
        jar = requests.cookies.RequestsCookieJar()
        jar.set("in", "1", path="/echo")
        jar.set("out", "2", path="/elsewhere")
        return client.get("/echo", cookies=jar)

    assert sent(outcome(scenario)) == ["in=1"]


def test_a_cookie_of_an_answer_that_failed_is_kept(outcome):
    def scenario(client):
        client.get("/cookies/set?a=1;Path=/")
        client.get("/status/500")
        client.get("/broken/closed")
        client.get("/echo")

    assert sent(outcome(scenario)) == [None, "a=1", "a=1", "a=1"]


def test_cookies_of_a_stream(outcome):
    def scenario(client):
        list(client.get("/cookies/set?a=1;Path=/", stream=True).iter_content(None))
        client.get("/echo")

    assert sent(outcome(scenario)) == [None, "a=1"]
