"""Objects that a locustfile adds to the session: hooks, adapters, prepared requests, proxies."""

import pytest
import requests
from locust.clients import LocustHttpAdapter
from requests.adapters import BaseAdapter, HTTPAdapter


class Canned(BaseAdapter):
    """Answers by itself."""

    def send(self, request, **_options):
        answer = requests.Response()
        answer.status_code = 200
        answer._content = b"canned"
        answer.url = request.url
        answer.request = request
        return answer

    def close(self):
        pass


class Counting(HTTPAdapter):
    sent = 0

    def send(self, *arguments, **options):
        type(self).sent += 1
        return super().send(*arguments, **options)


def test_a_hook_of_the_request(outcome):
    def scenario(client):
        heard = []
        client.get(
            "/echo", hooks={"response": lambda answer, **_: heard.append(answer.status_code)}
        )
        client.get("/echo")
        return heard

    assert outcome(scenario).value == [200]


def test_hooks_of_the_session(outcome):
    def scenario(client):
        heard = []
        client.hooks["response"].append(lambda answer, **_: heard.append(answer.status_code))
        client.get("/left/1")
        return heard

    assert outcome(scenario).value == [302, 200]


def test_a_hook_may_change_the_answer(outcome):
    def marked(answer, **_):
        answer.marked = True
        return answer

    def scenario(client):
        return client.get("/echo", hooks={"response": [marked, marked]}).marked

    assert outcome(scenario).value is True


def test_a_hook_that_raises(outcome):
    def refuse(answer, **_):
        answer.raise_for_status()

    seen = outcome(lambda client: client.get("/status/404", hooks={"response": refuse}))
    assert seen.event["exception"]["class"] == "requests.exceptions.HTTPError"
    assert seen.value["status"] == 0


def test_an_adapter_of_the_locustfile(outcome, site):
    def scenario(client):
        client.mount(f"{site.url}/canned", Canned())
        return client.get("/canned/one").content, client.get("/echo").status_code

    seen = outcome(scenario)
    assert seen.value == [b"canned", 200]
    assert len(seen.wire) == 1
    assert seen.events[0]["response_length"] == 6


def test_an_adapter_for_a_scheme_of_its_own(outcome):
    def scenario(client):
        client.mount("canned://", Canned())
        client.base_url = ""
        return client.get("canned://any").content

    assert outcome(scenario).value == b"canned"


def test_an_adapter_of_requests_counts_what_goes_through_it(outcome):
    def scenario(client):
        Counting.sent = 0
        client.mount("http://", Counting())
        client.get("/echo")
        client.get("/left/1")
        return Counting.sent

    assert outcome(scenario).value == 3


@pytest.mark.parametrize("retries", [0, 2])
def test_retries_of_an_adapter(outcome, retries):
    def scenario(client):
        client.mount("http://", HTTPAdapter(max_retries=retries))
        client.get("/broken/closed")

    seen = outcome(scenario)
    assert len(seen.wire) == retries + 1
    assert len(seen.events) == 1


def test_what_is_mounted_by_itself(outcome):
    def scenario(client):
        return [
            isinstance(client.get_adapter(url), LocustHttpAdapter)
            for url in ("http://", "https://")
        ]

    assert outcome(scenario).value == [True, True]


def test_a_prepared_request_is_sent_without_a_report(outcome, site):
    def scenario(client):
        request = requests.Request("POST", f"{site.url}/echo", json={"a": 1}).prepare()
        return client.send(request)

    seen = outcome(scenario)
    assert seen.value["status"] == 200
    assert seen.events == []


def test_a_request_is_prepared_by_the_session(outcome, site):
    def scenario(client):
        client.headers["X-One"] = "1"
        client.explicit_name = None
        prepared = client.prepare_request(requests.Request("GET", f"{site.url}/echo"))
        return client.send(prepared, timeout=5)

    assert ("X-One", "1") in outcome(scenario).request["headers"]


def test_the_environment_is_not_asked(outcome, monkeypatch, closed_port):
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{closed_port}")
    monkeypatch.setenv("all_proxy", f"http://127.0.0.1:{closed_port}")
    seen = outcome(lambda client: (client.trust_env, client.get("/echo").status_code))
    assert seen.value == [False, 200]


@pytest.mark.parametrize("scheme", ["http", "all"])
def test_a_proxy_of_the_request_is_refused_in_words(play, site, scheme):
    proxies = {scheme: site.other.url}
    seen = play(lambda client: client.get("http://example.invalid/echo", proxies=proxies))
    check_refusal(seen)


def test_a_proxy_of_the_session_is_refused_in_words(play, site):
    def scenario(client):
        client.proxies = {"http": site.other.url}
        return client.get("http://example.invalid/echo")

    check_refusal(play(scenario))


def check_refusal(seen):
    assert "torr does not support proxies" in seen.raised["text"]
    assert (seen.wire, seen.events) == ([], [])


@pytest.mark.parametrize("proxies", [{}, None, {"https": "http://127.0.0.1:1"}])
def test_proxies_for_something_else(outcome, proxies):
    seen = outcome(lambda client: client.get("/echo", proxies=proxies))
    assert seen.value["status"] == 200


def test_a_session_that_was_closed_goes_on(outcome):
    def scenario(client):
        client.get("/echo")
        client.close()
        return client.get("/echo")

    seen = outcome(scenario)
    assert seen.value["status"] == 200
    assert [one["connection"] for one in seen.wire] == [1, 2]


def test_a_session_as_a_context(outcome):
    def scenario(client):
        with client as session:
            return session.get("/echo").status_code

    assert outcome(scenario).value == 200


def test_a_pool_that_users_share(outcome):
    from urllib3 import PoolManager

    pools = [PoolManager(maxsize=10, block=True) for _ in range(3)]

    def scenario(client):
        pool = pools.pop()
        first, second = (type(client.user)(client.user.environment) for _ in range(2))
        for user in (first, second):
            user.client.mount("http://", LocustHttpAdapter(pool_manager=pool))
            user.client.get("/echo")

    seen = outcome(scenario)
    assert [one["connection"] for one in seen.wire] == [1, 1]


def test_the_pool_of_a_user_class(outcome):
    from urllib3 import PoolManager

    def scenario(client):
        visitor = type(client.user)
        visitor.pool_manager = PoolManager(maxsize=1, block=True)
        for user in (visitor(client.user.environment), visitor(client.user.environment)):
            user.client.get("/echo")

    assert [one["connection"] for one in outcome(scenario).wire] == [1, 1]
