"""What backend and proxy do beside answering, in Express as in Go."""

from __future__ import annotations

import json
import os
import signal

import pytest

from installed import children_of, is_running, wait_until, words_of

PROXIES = ["express-proxy", "go-proxy"]
JSON = {"content-type": "application/json"}


def part(server, word):
    """The process of a pair whose command has this word in it."""
    for child in children_of(server.process.pid):
        if word in "\0".join(words_of(child)):
            return child
    raise AssertionError(f"no {word} was started")


@pytest.mark.parametrize("name", PROXIES)
def test_a_proxy_passes_bodies_on_and_statuses_back(start, name):
    server = start("proxy", name)
    long = json.dumps({"query": "x" * 50_000})
    assert server.ask("POST", body=long, headers=JSON).status == 200
    pieces = (piece.encode() for piece in ('{"query"', ': "in pieces"}'))
    assert server.ask("POST", body=pieces, headers=JSON).status == 200
    assert server.ask("POST", body="{", headers=JSON).status == 400
    assert server.ask(path="/proxy/nothing").status == 404


@pytest.mark.parametrize("name", PROXIES)
def test_a_proxy_without_a_backend_answers_502(start, name):
    server = start("proxy", name)
    os.kill(server.process.pid, signal.SIGSTOP)  # it would end the proxy as well
    os.kill(part(server, "backend"), signal.SIGKILL)
    answer = wait_until(lambda: next(iter(a for a in [server.ask()] if a.status != 200), None))
    assert (answer.status, answer.body) == (502, b"the backend does not answer")


@pytest.mark.parametrize("name", PROXIES)
@pytest.mark.parametrize("word", ["backend", "proxy"])
def test_a_pair_ends_when_a_part_of_it_does(start, name, word):
    server = start("proxy", name)
    os.kill(part(server, word), signal.SIGKILL)
    assert server.process.wait(timeout=20) == 1
    wait_until(server.is_gone)


@pytest.mark.parametrize("name", PROXIES)
def test_a_pair_outlives_no_killed_parent(start, name):
    server = start("proxy", name)
    both = [part(server, "backend"), part(server, "proxy")]
    server.process.kill()
    wait_until(lambda: not any(is_running(each) for each in both))


@pytest.mark.parametrize("name", PROXIES)
def test_with_a_log_backend_and_proxy_write_a_line_for_request_and_answer(start, name):
    server = start("proxy", name, LOG="1")
    server.ask("POST", body="{}", headers=JSON)
    found = {path.name: path for path in server.scratch.glob("*/*.log")}
    for log, path in (("backend.log", "/api/data"), ("proxy.log", "/proxy/api/data")):
        text = wait_until(
            lambda log=log, path=path: (
                f"< POST {path} 200" in found[log].read_text() and found[log].read_text()
            )
        )
        assert f"> POST {path}" in text
    assert server.stop() == 0
    assert not list(server.scratch.glob("*/*.log"))
