"""The secrets of a plan are the values that it sends under secret names."""

from __future__ import annotations

import pytest

from torr.model.pace import Closed
from torr.model.plan import Count, Group, Plan
from torr.model.request import Request, basic
from torr.model.source import Source
from torr.model.transport import Proxy, Transport


def plan_with(*headers, url="http://127.0.0.1:9/", body=None, **more):
    request = Request(url, headers=headers, body=body)
    return Plan((Group(Closed(1), Source.of(request)),), Count(1), **more)


def test_values_of_secret_headers_count_with_and_without_their_scheme():
    plan = plan_with(("authorization", "Bearer sk-LEAKED-123"), ("x-user", "ann"), ("cookie", "a"))
    assert plan.secrets == ["Bearer sk-LEAKED-123", "sk-LEAKED-123"]


def test_the_password_of_a_basic_authorization_counts_as_it_is_typed():
    assert "open sesame" in plan_with(basic("ann", "open sesame")).secrets


def test_fields_of_urls_and_bodies_and_what_a_proxy_is_shown_count():
    proxy = Proxy.parse("http://ann:hush-proxy@127.0.0.1:1/")
    plan = plan_with(
        url="http://127.0.0.1:9/?api_key=hush%20query&n=1",
        body=b'{"password": "hush-body"}',
        transport=Transport(proxy=proxy),
    )
    assert {"hush query", "hush%20query", "hush-body", "hush-proxy"} <= set(plan.secrets)


@pytest.mark.parametrize("body", ["password=Ålesund2026&n=1", '{"password": "Ålesund2026"}'])
def test_a_password_in_a_body_is_known_as_it_comes_back(body):
    assert plan_with(body=body.encode()).secrets == ["Ålesund2026"]


def test_a_word_too_short_to_tell_from_others_is_no_secret():
    assert plan_with(("x-token", "abc")).secrets == []


def test_a_request_is_called_without_its_secrets_also_in_a_log():
    named = Request("http://127.0.0.1:9/a;jsessionid=hush?n=1")
    assert named.as_json()["name"] == "GET /a;jsessionid=***"
    assert Request("http://127.0.0.1:9/", name="a\x1b[2J token=hush").name == r"a\x1b[2J token=***"
