"""The live page of the installed torr, during real loads."""

from __future__ import annotations

import json
import signal

import pytest

from events import Events, ask, token_of
from installed import TORR
from torr.results.base import builtins, convert
from torr.results.result import RunResult

MATRIX = """\
baseline = "one"
rounds = 2
duration = "300ms"
warmup = "0s"
connections = 2
url = "http://127.0.0.1:{port}/"
"""


@pytest.fixture
def live(start):
    """Start a verb with its live page; its process, and where the page is."""

    def started(verb, *arguments):
        process = start(verb, "--live", "--live-port", "0", *arguments)
        line = process.stderr.readline()
        assert line.startswith("live    http://127.0.0.1:"), line + process.stderr.read()
        return process, line.split()[-1]

    return started


def test_a_ladder_is_heard_whole_over_a_reload(live, steady, tmp_path):
    flags = ("--levels", "2,4", "-z", "2s", "--warmup", "200ms")
    process, url = live("ladder", *flags, steady.url)
    with Events(url) as events:
        events.until("interval")
        before, last_id = events.seen, events.last_id
    with Events(url, last_id) as again:
        again.until("end")
        assert again.rest() == []
    assert process.wait(timeout=60) == 0
    kept = json.loads((tmp_path / "_output/torr/latest/result.json").read_text())
    whole = builtins(convert(kept, RunResult))
    for level in whole["levels"]:
        for piece in level["intervals"]:
            piece.pop("histograms")
    assert again.seen[-1][1]["result"] == whole
    intervals = [data for kind, data in [*before, *again.seen] if kind == "interval"]
    for number, level in enumerate(kept["levels"]):
        heard = [data["interval"]["t_s"] for data in intervals if data["level"] == number]
        # What came before somebody listened is in the run that came first, if its level had ended.
        assert heard == [x["t_s"] for x in level["intervals"]][: len(heard)]
    assert {data["level"] for data in intervals} in ({0, 1}, {1})


def test_stop_ends_a_real_load_and_keeps_it(live, steady, tmp_path):
    process, url = live("run", "-c", "2", "-z", "10m", steady.url)
    with Events(url) as events:
        while events.until("interval")["interval"]["phase"] != "measure":
            pass
        assert ask(url, "/stop", "POST", authorization=f"Bearer {token_of(url)}")[0] == 202
        end = events.until("end")
    assert process.wait(timeout=60) == 130
    assert end["result"]["status"] == "interrupted"
    assert end["result"]["levels"][0]["counts"]["ok"] > 0
    assert (tmp_path / "_output/torr/latest/report.html").exists()


def test_ctrl_c_ends_a_page_that_stays(live, steady):
    process, url = live(
        "run", "-c", "1", "-z", "200ms", "--warmup", "0s", "--live-stay", "5m", steady.url
    )
    assert any("until Ctrl-C" in line for line in iter(process.stderr.readline, ""))
    with Events(url) as events:
        events.until("end")
    assert "torr_running 0\n" in ask(url, "/metrics")[2]
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 0


@pytest.mark.full
def test_a_comparison_is_shown_trial_by_trial(live, tmp_path):
    command = f'["{TORR}", "target", "hello", "--port", "{{port}}", "--for", "60s"]'
    tables = (f'[[candidates]]\nname = "{name}"\ncommand = {command}' for name in ("one", "two"))
    (tmp_path / "matrix.toml").write_text(MATRIX + "\n".join(tables))
    process, url = live("compare", "--pin", "off", "matrix.toml")
    with Events(url) as events:
        end = events.until("end")
        numbers = [data for kind, data in events.seen if kind == "run"]
    assert process.wait(timeout=60) == 0
    counts = [len(each["result"]["levels"]) for each in numbers]
    # A reader that comes late hears of the newest alone.
    assert counts == sorted(set(counts))
    assert set(counts) <= set(range(5))
    assert len(end["result"]["levels"]) == 4
    intervals = [data for kind, data in events.seen if kind == "interval"]
    assert {data["candidate"] for data in intervals} == {"one", "two"}
    assert {data["round"] for data in intervals} == {1, 2}
    assert all(each["view"]["sentence"] for each in [*numbers, end])
