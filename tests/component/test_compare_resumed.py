"""A comparison that was ended goes on where it was, and with nothing else."""

from __future__ import annotations

import json
import signal

import pytest

from candidates import GOOD, QUICK
from installed import wait_until
from tiers import full


@pytest.mark.parametrize("number", [signal.SIGKILL, *full(signal.SIGINT)])
def test_going_on_where_it_was(torr, start, matrix, tmp_path, number):
    name = matrix({"one": GOOD, "two": GOOD}, QUICK.replace("rounds = 1", "rounds = 6"))
    process = start("compare", name)
    kept = tmp_path / "_output/torr/latest/result.json"
    wait_until(lambda: kept.exists() and len(json.loads(kept.read_text())["levels"]) >= 3)
    process.send_signal(number)
    process.wait(120)
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


@pytest.mark.full
def test_a_run_goes_on_only_with_its_own_file(torr, start, matrix, tmp_path):
    process = start("compare", matrix({"one": GOOD, "two": GOOD}, QUICK.replace("= 1", "= 9")))
    kept = tmp_path / "_output/torr/latest/result.json"
    wait_until(lambda: kept.exists() and json.loads(kept.read_text())["levels"])
    process.send_signal(signal.SIGINT)
    process.wait(120)
    nine = QUICK.replace("= 1", "= 9")
    own = {"one": GOOD, "two": GOOD}
    others = {
        "candidates was one, two at the start, and is one, three now": (
            nine,
            {"one": GOOD, "three": GOOD},
        ),
        "rounds was 9 at the start, and is 1 now": (QUICK, own),
        "pause was 0s at the start, and is 1ms now": (f'pause = "1ms"\n{nine}', own),
        "warmup_requests was None at the start, and is 3 now": (
            f"warmup_requests = 3\n{nine}",
            own,
        ),
        "grace_s was ": (f'grace = "3s"\n{nine}', own),
        "health_timeout_s was ": (f'health_timeout = "3s"\n{nine}', own),
        "stop_signal was 15 at the start": (f'stop_signal = "SIGINT"\n{nine}', own),
        "requests was 30 at the start, and is 40 now": (
            nine.replace("requests = 30", "requests = 40"),
            own,
        ),
    }
    for words, (top, candidates) in others.items():
        ended = torr("compare", matrix(candidates, top), "--resume", "_output/torr/latest")
        assert ended.code == 2
        assert words in ended.err
    same = matrix(own, nine)
    ended = torr("compare", same, "--resume", "_output/torr/latest", "--pin", "off")
    assert ended.code == 2
    assert "pin was" in ended.err


@pytest.mark.full
def test_trials_of_other_versions_or_of_another_machine_are_not_mixed(
    torr, start, matrix, tmp_path
):
    name = matrix({"one": GOOD, "two": GOOD}, QUICK.replace("= 1", "= 9"))
    process = start("compare", name)
    kept = tmp_path / "_output/torr/latest/result.json"
    wait_until(lambda: kept.exists() and json.loads(kept.read_text())["levels"])
    process.send_signal(signal.SIGINT)
    process.wait(120)
    before = json.loads(kept.read_text())
    versions = before["experiment"]["candidates"]["one"]["versions"]
    versions["torr"] = "0.0.1"
    kept.write_text(json.dumps(before))
    ended = torr("compare", name, "--resume", "_output/torr/latest")
    assert ended.code == 2
    assert "torr was 0.0.1 at the start" in ended.err
    del before["experiment"]["candidates"]["one"]["versions"]
    before["environment"]["machine"]["cpu"] = "another"
    kept.write_text(json.dumps(before))
    ended = torr("compare", name, "--resume", "_output/torr/latest")
    assert ended.code == 2
    assert "it began on another machine" in ended.err
