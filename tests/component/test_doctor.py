"""The installed `torr doctor`: what a user reads, and that it leaves nothing behind."""

from __future__ import annotations

import json
import re

import pytest


def test_it_says_what_the_machine_can_generate_and_leaves_no_file(torr, target):
    hello = target("hello")
    ended = torr("doctor", hello.url)
    assert ended.code == 0, ended.err
    first, second, *_ = ended.out.splitlines()
    assert re.match(r"This machine can generate about [\d,]+ requests/s a core over up to", first)
    assert re.match(r"\d+ of \d+ checks need attention:|No check found a problem\.", second)
    assert f"torr (pid {hello.process.pid}) listens on 127.0.0.1:" in ended.out
    assert ended.err == ""
    assert list(ended.folder.iterdir()) == []
    assert hello.stop()["connections"] == 0


@pytest.mark.full
def test_it_writes_json_alone(torr):
    ended = torr("doctor", "-o", "json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert found["requests_per_s_per_core"] > 0
    assert found["target"] is None
    assert ended.err == ""


@pytest.mark.full
def test_quiet_prints_the_sentence_alone(torr):
    assert len(torr("doctor", "-q").out.splitlines()) == 1


def test_a_wrong_url_ends_with_2(torr):
    ended = torr("doctor", "localhost:8080")
    assert ended.code == 2
    assert "URL: 'localhost:8080' has no scheme" in ended.err
