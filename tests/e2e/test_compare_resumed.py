"""A comparison that was ended goes on where it was, and with nothing else."""

from __future__ import annotations

import json
import signal

from candidates import GOOD, QUICK, await_


def test_going_on_where_it_was(torr, start, matrix, tmp_path):
    name = matrix({"one": GOOD, "two": GOOD}, QUICK.replace("rounds = 1", "rounds = 6"))
    process = start("compare", name)
    kept = tmp_path / "_output/torr/latest/result.json"
    await_(lambda: kept.exists() and len(json.loads(kept.read_text())["levels"]) >= 3)
    process.send_signal(signal.SIGINT)
    process.wait(30)
    before = json.loads(kept.read_text())["levels"]
    ended = torr("compare", name, "--resume", "_output/torr/latest")
    assert ended.code == 0, ended.err
    after = ended.result
    assert after["status"] == "complete"
    trials = {(x["candidate"], x["round"]) for x in after["levels"] if not x["cut_short"]}
    assert trials == {(name, number) for name in ("one", "two") for number in range(1, 7)}
    whole = [level for level in before if not level["cut_short"]]
    assert [x["ok_per_s"] for x in after["levels"][: len(whole)]] == [x["ok_per_s"] for x in whole]
    again = torr("compare", name, "--resume", "_output/torr/latest")
    assert again.code == 2
    assert "is complete" in again.err


def test_a_run_goes_on_only_with_its_own_file(torr, start, matrix, tmp_path):
    process = start("compare", matrix({"one": GOOD, "two": GOOD}, QUICK.replace("= 1", "= 9")))
    kept = tmp_path / "_output/torr/latest/result.json"
    await_(lambda: kept.exists() and json.loads(kept.read_text())["levels"])
    process.send_signal(signal.SIGINT)
    process.wait(30)
    nine = QUICK.replace("= 1", "= 9")
    own = {"one": GOOD, "two": GOOD}
    others = {
        "its candidates are others": (nine, {"one": GOOD, "three": GOOD}),
        "its rounds: 9 then, 1 now": (QUICK, own),
        "its duration_ns: 200000000 then, 300000000 now": (nine.replace("200ms", "300ms"), own),
    }
    for words, (top, candidates) in others.items():
        ended = torr("compare", matrix(candidates, top), "--resume", "_output/torr/latest")
        assert ended.code == 2
        assert words in ended.err
    same = matrix(own, nine)
    ended = torr("compare", same, "--resume", "_output/torr/latest", "--pin", "off")
    assert ended.code == 2
    assert "its pin" in ended.err
