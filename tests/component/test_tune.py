"""`torr tune` as a user runs it: on a server of which the best setting is known."""

from __future__ import annotations

import json
import signal
import time
from functools import partial
from random import Random

import pytest

import torr
from installed import TORR, wait_until
from torr.errors import NothingMeasuredError
from torr.options.tune import TuneOptions
from torr.planning.tuning import TunePlan
from torr.results.result import decoded
from torr.results.tuning import TrialPlace
from torr.sources.tune_file import read_tune_file

# The server has one thread of work per connection, and its delay is the only difference.
FILE = f"""\
name = "delays"
command = ["sh", "-c", "exec {TORR} target delay --port {{port}} --for 60s $(cat {{conf}})"]
url = "http://127.0.0.1:{{port}}/"
connections = 2
requests = 20
warmup = "0s"
slo = ["p50 < 5s"]
budget = 22
before = [["sh", "-c", "echo {{delay}} >> ran"]]
[settings]
delay = ["20ms", "1ms"]
[default]
delay = "20ms"
[templates]
conf = "server.conf"
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "server.conf").write_text("--delay {delay}\n")
    path = tmp_path / "tune.toml"
    path.write_text(FILE)
    return str(path)


def places(result):
    return [TrialPlace(**level["place"]) for level in result["levels"]]


def test_the_faster_setting_is_recommended(torr, file):
    ended = torr("tune", file, "--pin", "off")
    assert ended.code == 0, ended.err
    result = ended.result
    tuning = result["tuning"]
    assert (result["kind"], result["status"], tuning["is_complete"]) == ("tune", "complete", True)
    assert (tuning["recommended"], tuning["rounds"], tuning["default"]["setting"]) == (1, 10, 0)
    claim = tuning["measured"][0]["against_default"]
    assert (claim["word"], claim["n"], tuning["measured"][0]["slo"]) == ("better", 10, "held")
    assert claim["ratio"] > 1
    assert tuning["use"]["files"] == {"server.conf": "--delay 1ms\n"}
    assert "--port {port}" in tuning["use"]["command"]
    # Twice the default before the trials, and each trial once.
    ran = (ended.folder / "ran").read_text().split()
    # A trial that the generator limited is repeated.
    assert len(ran) == 2 + len(result["levels"]) >= 22
    assert ran[:2] == ["20ms"] * 2
    assert "delay 1ms is at least 3 % faster than the default" in ended.out
    run = (ended.folder / "_output/torr/latest").resolve()
    assert {"report.html", "summary.md", "delays_tune.png"} <= {path.name for path in run.iterdir()}


@pytest.mark.full
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_tuning_goes_on_where_it_was(torr, start, file, tmp_path, number):
    process = start("tune", file, "--pin", "off")
    kept = tmp_path / "_output/torr/latest/result.json"
    wait_until(lambda: kept.exists() and len(json.loads(kept.read_text())["levels"]) >= 4)
    process.send_signal(number)
    process.wait(120)
    before = [x for x in json.loads(kept.read_text())["levels"] if not x.get("cut_short")]
    ended = torr("tune", file, "--pin", "off", "--resume", "_output/torr/latest")
    assert ended.code == 0, ended.err
    result = ended.result
    assert len(set(places(result))) == 20
    whole = [level for level in result["levels"] if not level["cut_short"]]
    assert [x["ok_per_s"] for x in whole[: len(before)]] == [x["ok_per_s"] for x in before]
    assert (result["status"], result["tuning"]["recommended"]) == ("complete", 1)
    again = torr("tune", file, "--resume", "_output/torr/latest")
    assert (again.code, "is complete" in again.err) == (2, True)


# Seven settings enter the search; the value of `pool` in a template has a condition.
SEARCHED = f"""\
name = "searched"
command = ["sh", "-c", "exec {TORR} target delay --port {{port}} --for 60s $(cat {{conf}})"]
url = "http://127.0.0.1:{{port}}/"
connections = 2
requests = 20
warmup = "0s"
slo = ["p50 < 5s"]
budget = 64
[settings]
delay = ["8ms", "1ms", "2ms", "4ms"]
capacity = {{ values = [8, 16, 24], when = {{ delay = [1, 2] }}, otherwise = 4 }}
[default]
delay = "8ms"
[templates]
conf = "server.conf"
""".replace("delay = [1, 2]", 'delay = ["1ms", "2ms"]')
KILLS = 10
PATIENCE_S = 600


@pytest.mark.full
def test_a_search_that_is_killed_at_any_moment_has_the_finalists_of_its_trials(start, tmp_path):
    path = tmp_path / "tune.toml"
    path.write_text(SEARCHED)
    (tmp_path / "server.conf").write_text("--delay {delay} --capacity {capacity}\n")
    words, resume, random = ["tune", str(path), "--pin", "off"], [], Random(28)
    kept = tmp_path / "_output/torr/latest/result.json"

    def measured():
        """Return what was measured; readings of the monitor are added to a level later."""
        if not kept.exists():
            return []
        whole = [x for x in json.loads(kept.read_text())["levels"] if not x["cut_short"]]
        return [(x["place"], x["ok_per_s"], x["counts"]) for x in whole]

    def has_ended_or(process, count):
        return process.poll() is not None or len(measured()) >= count

    phases = set()
    for _ in range(KILLS):
        before = measured()
        more = len(before) + random.randrange(1, 6)
        process = start(*words, *resume)
        wait_until(partial(has_ended_or, process, more), PATIENCE_S)
        assert process.poll() is None, process.stderr.read()
        time.sleep(random.uniform(0, 0.4))
        process.kill()
        process.wait(120)
        phases.add(measured()[-1][0]["phase"])
        assert measured()[: len(before)] == before
        resume = ["--resume", "_output/torr/latest"]
    assert "search" in phases
    last = start(*words, *resume)
    assert last.wait(PATIENCE_S) == 0, last.stderr.read()
    result = decoded(kept.read_bytes(), "the result")
    tuning = TunePlan.of(read_tune_file(path), TuneOptions())
    trials = tuning.reader.trials(result.levels, result.failures)
    search, stages = result.experiment.search, tuple(result.experiment.stages)
    procedure = tuning.procedure_in(search, stages)
    # The same trials without an interruption, each of them once.
    whole = procedure.run(trials.__getitem__)
    assert procedure.replay(trials).following is None
    assert result.tuning.is_complete
    assert list(whole.finalists) == result.tuning.finalists
    assert whole.verdict.recommended == result.tuning.recommended
    fastest = {tuning.file.settings[setting]["delay"] for setting in whole.finalists}
    assert "1ms" in fastest


# Pieces come every {itl}, which is all that the settings differ in.
CHAT = f"""\
name = "chat"
command = [
    "{TORR}", "target", "openai", "--port", "{{port}}", "--ttft", "1ms", "--itl", "{{itl}}",
    "--tokens", "5", "--for", "60s",
]
url = "http://127.0.0.1:{{port}}"
health = "/health"
chat = "openai"
model = "m"
prompt = "one two three"
connections = 2
requests = 20
warmup = "0s"
primary = "tokens/s"
slo = ["ttft p50 < 5s", "errors < 5%"]
budget = 34
[settings]
itl = ["8ms", "1ms", "20ms"]
[default]
itl = "8ms"
"""


@pytest.mark.full
def test_a_load_of_a_language_model(torr, tmp_path):
    path = tmp_path / "tune.toml"
    path.write_text(CHAT)
    ended = torr("tune", str(path), "--pin", "off")
    assert ended.code == 0, ended.err
    tuning = ended.result["tuning"]
    assert (tuning["recommended"], tuning["finalists"]) == (1, [1, 2])
    champion = tuning["measured"][0]
    assert (champion["against_default"]["metric"], champion["slo"]) == ("tokens_per_s", "held")
    assert champion["is_beyond_margin"]
    assert "faster by tokens/s" in ended.out or "faster than the default" in ended.out


TRACE = CHAT.replace('prompt = "one two three"', 'trace = "trace.jsonl"').replace(
    'requests = 20\nwarmup = "0s"\n', ""
)


@pytest.mark.full
def test_a_load_of_a_trace(torr, tmp_path):
    path = tmp_path / "tune.toml"
    path.write_text(TRACE)
    rows = [{"timestamp": 5 * n, "input_length": 9, "output_length": 5} for n in range(20)]
    lines = [json.dumps({**row, "hash_ids": [1]}) + "\n" for row in rows]
    (tmp_path / "trace.jsonl").write_text("".join(lines))
    ended = torr("tune", str(path), "--pin", "off")
    assert ended.code == 0, ended.err
    assert "note: prompt lengths are exact by the server's /tokenize\n" in ended.out
    lengths = [level["stream"]["prompt_lengths"] for level in ended.result["levels"]]
    assert {each["difference_mean"] for each in lengths} == {0}
    assert ended.result["tuning"]["finalists"] == [1, 2]
    assert {level["counts"]["ok"] for level in ended.result["levels"]} == {20}
    assert ended.result["levels"][0]["trace"]["rows"] == 20


@pytest.mark.full
def test_a_setting_that_does_not_start_is_out_with_its_reason(torr, file, tmp_path):
    path = tmp_path / "tune.toml"
    broken = FILE.replace('["20ms", "1ms"]', '["20ms", "never", "1ms"]')
    path.write_text(broken.replace("budget = 22", "budget = 34"))
    ended = torr("tune", file, "--pin", "off")
    assert ended.code == 0, ended.err
    (out,) = ended.result["tuning"]["out"]
    assert (out["setting"], out["problem"] in ("died", "did_not_start")) == (1, True)
    assert "delay never" in ended.out
    assert ended.result["tuning"]["recommended"] == 2


@pytest.mark.full
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("--delay {delay}", "--delay nothing"), "before it was ready"),
        (
            ('url = "http', 'health_timeout = "300ms"\nhealth = "/absent"\nurl = "http'),
            "not healthy",
        ),
    ],
)
def test_a_default_that_does_not_start_ends_the_tuning(torr, file, tmp_path, change, said):
    for path in (tmp_path / "server.conf", tmp_path / "tune.toml"):
        path.write_text(path.read_text().replace(*change))
    ended = torr("tune", file)
    assert ended.code == 3
    assert not (tmp_path / "_output/torr/latest").exists()
    assert said in ended.err, ended.err


@pytest.mark.full
def test_from_python_a_tuning_that_measured_nothing_raises(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = FILE.replace('"1ms"', '"a", "b", "c", "d"').replace("budget = 22", "budget = 60")
    (tmp_path / "tune.toml").write_text(text)
    with pytest.raises(NothingMeasuredError, match="no trial could be measured"):
        torr.tune(file, pin="off")
