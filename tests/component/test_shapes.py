"""When requests are sent: stages, replays and pools, as the target counted them."""

from __future__ import annotations

import pytest

from documents import ROOT

EXAMPLES = ROOT / "examples"


def test_stages_of_users_have_as_many_connections_as_users(torr, own_steady):
    ended = torr("run", "--stages", "100ms:6,100ms:6,100ms:0", "--drain", "2s", own_steady.url)
    assert ended.code == 0, ended.err
    level = ended.level
    assert level["counts"]["ok"] > 0
    assert level["connections"]["opened"] == 6
    counted = own_steady.stop()
    assert counted["requests"] == level["counts"]["attempted"]
    assert counted["connections"] == 6


def test_stages_of_a_rate_send_the_area_below_them(torr, own_steady):
    flags = ("--rate", 0, "--stages", "100ms:2000,100ms:2000,50ms:0", "-c", 20)
    ended = torr("run", *flags, own_steady.url)
    assert ended.code == 0, ended.err
    # 100 while it rises, 200 while it stays, 50 while it falls.
    assert ended.level["counts"]["planned"] == pytest.approx(350, abs=5)
    assert own_steady.stop()["requests"] == ended.level["counts"]["attempted"]


def test_a_jump_is_a_jump(torr, steady):
    flags = ("--rate", 1000, "--stages", "150ms:1000,0s:2000,150ms:2000")
    ended = torr("run", *flags, steady.url)
    assert ended.code == 0, ended.err
    assert ended.level["counts"]["planned"] == pytest.approx(150 + 300, abs=5)


def test_a_replay_sends_one_request_for_each_line(torr, own_steady):
    lines = (EXAMPLES / "access.log").read_text().splitlines()
    ended = torr("run", "--replay", EXAMPLES / "access.log", "--speed", 20, own_steady.url)
    assert ended.code == 0, ended.err
    assert ended.level["counts"]["planned"] == len(lines) == own_steady.stop()["requests"]


def test_a_replay_is_cut_by_a_duration(torr, own_steady, tmp_path):
    (tmp_path / "times").write_text("".join(f"{i / 10}\n" for i in range(100)))
    ended = torr("run", "--replay", "times", "--speed", 2, "-z", "250ms", own_steady.url)
    assert ended.code == 0, ended.err
    assert own_steady.stop()["requests"] == 5


def test_users_share_the_connections_of_a_pool(torr, own_steady):
    flags = ("-c", 200, "--pool", 3, "--think", "10ms", "-z", "300ms", "--warmup", "100ms")
    ended = torr("run", *flags, own_steady.url)
    assert ended.code == 0, ended.err
    level = ended.level
    assert level["concurrency"] == 200
    counted = own_steady.stop()
    assert counted["connections"] == 3
    attempts = level["counts"]["attempted"] + level["warmup"]["counts"]["attempted"]
    assert counted["requests"] == attempts
