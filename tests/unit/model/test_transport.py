"""Transports: a proxy and what it is shown."""

from __future__ import annotations

import json

import pytest

from torr.errors import UsageError
from torr.model.transport import Proxy, Transport


@pytest.mark.parametrize(
    ("text", "proxy"),
    [
        ("http://127.0.0.1:3128", Proxy("127.0.0.1", 3128)),
        ("http://[::1]:3128/", Proxy("::1", 3128)),
        ("http://ann:p%40ss@proxy:8080", Proxy("proxy", 8080, "Basic YW5uOnBAc3M=")),
    ],
)
def test_a_proxy_is_a_host_a_port_and_what_it_is_shown(text, proxy):
    assert Proxy.parse(text) == proxy


@pytest.mark.parametrize(
    "text", ["http://proxy", "https://proxy:1", "http://proxy:1/x", "unix:/run/x", "proxy:1"]
)
def test_what_is_no_proxy_is_refused(text):
    with pytest.raises(UsageError):
        Proxy.parse(text)


def test_a_proxy_is_written_only_where_there_is_one_and_without_its_password():
    assert "proxy" not in Transport().as_json()
    transport = Transport(proxy=Proxy("proxy", 8080, "Basic hush"))
    assert transport.as_json()["proxy"] == {
        "host": "proxy",
        "port": 8080,
        "authorization": "Basic hush",
    }
    assert "hush" not in json.dumps(transport.redacted().as_json())
    plain = Transport(proxy=Proxy("proxy", 8080))
    assert plain.redacted() == plain


def test_the_version_of_http_and_the_time_to_collect_requests_are_written_where_they_are_given():
    members = Transport(http="auto", streams=4, coalesce_ns=300_000).as_json()
    assert (members["http"], members["streams"], members["coalesce_ns"]) == ("auto", 4, 300_000)
    assert not {"http", "streams", "coalesce_ns"} & Transport().as_json().keys()
    with pytest.raises(UsageError, match="never sent together"):
        Transport(coalesce_ns=300_000, streams=2)
    with pytest.raises(UsageError, match="one request at a time without --streams"):
        Transport(http="2c", coalesce_ns=300_000)
