"""After many requests on 10 connections, torr's counts are those of the server."""

from __future__ import annotations

import subprocess
from collections import Counter
from functools import partial

import pytest

import http2_servers
from http2_servers import Site
from installed import TORR, Ended

REQUESTS = 1_000_000
# For loads of which some servers would need more than a minute for a million, on a busy machine.
FEWER = 250_000
LOAD = ("-c", 1000, "--streams", 100, "--warmup", "0s", "--timeout", "1m")
PLAIN = ("hyper", "nginx", "go", "node", "h2o", "haproxy")
SECURE = ("nginx", "go", "node", "h2o", "haproxy")


@pytest.fixture
def fire(authority, tmp_path):
    """Send requests to a server; return the level of the result, and what the server counted."""

    def fired(server, *, is_secure=False, requests=REQUESTS):
        folder = tmp_path / "server"
        folder.mkdir()
        site = Site(folder, authority.folder / "good.pem", is_secure)
        version = (
            ("--http", "2", "--cacert", authority.certificate) if is_secure else ("--http", "2c")
        )
        load = (*LOAD, *version, "--requests", requests, "--expect-status", "200,404")
        with server(site) as url:
            command = list(map(str, [TORR, "run", *load, url, f"{url}missing"]))
            ended = subprocess.run(
                command, capture_output=True, text=True, cwd=tmp_path, timeout=600, check=False
            )
        assert ended.returncode == 0, ended.stderr
        return Ended(ended.returncode, ended.stdout, ended.stderr, tmp_path).level, site.answered

    return fired


def assert_none_is_lost(level, answered, requests=REQUESTS):
    """Check that each request was answered, and that the server has counted as torr has."""
    counts = level["counts"]
    assert counts["ok"] == counts["attempted"] == requests
    assert (level["reasons"], counts["in_flight"]) == ({}, 0)
    by_class = Counter()
    for status, count in level["statuses"].items():
        by_class[f"{status[0]}xx"] += count
    assert by_class == answered
    assert level["connections"]["requested"] == 10


def assert_none_is_resent(level):
    assert (level["connections"]["opened"], level.get("resent", 0)) == (10, 0)


@pytest.mark.parametrize("name", PLAIN)
def test_torr_and_the_server_count_the_same(fire, name):
    level, answered = fire(getattr(http2_servers, name))
    assert_none_is_lost(level, answered)
    assert_none_is_resent(level)


@pytest.mark.parametrize("name", SECURE)
def test_over_tls_torr_and_the_server_count_the_same(fire, name):
    server = getattr(http2_servers, name)
    level, answered = fire(server, is_secure=True, requests=FEWER)
    assert_none_is_lost(level, answered, FEWER)
    assert_none_is_resent(level)


def test_torr_counts_what_nghttpd_prints(fire):
    level, answered = fire(http2_servers.printing_nghttpd, requests=FEWER)
    assert_none_is_lost(level, answered, FEWER)
    assert_none_is_resent(level)


def test_nghttpd_answers_each_path_as_often_as_torr_has_requested_it(fire):
    level, _ = fire(http2_servers.nghttpd)
    found, missing = (request["counts"]["attempted"] for request in level["requests"])
    assert_none_is_lost(level, {"2xx": found, "4xx": missing})
    assert_none_is_resent(level)


def test_no_request_is_lost_if_the_server_ends_each_connection_after_1000(fire):
    # This is what nginx does by default; the configuration of the other tests has no such limit.
    level, answered = fire(partial(http2_servers.nginx, limits="keepalive_requests 1000;"))
    assert_none_is_lost(level, answered)
    assert level["connections"]["opened"] >= REQUESTS / 1000
    assert level["resent"] > 0


def test_no_request_is_lost_if_the_server_allows_fewer_streams_than_torr_asks_for(fire):
    level, answered = fire(partial(http2_servers.go, streams=50), requests=FEWER)
    assert_none_is_lost(level, answered, FEWER)
    assert_none_is_resent(level)
    assert level["latency"]["stream_wait_ms"]["max"] > 0
