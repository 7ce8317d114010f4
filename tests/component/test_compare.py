"""`torr compare` as a user runs it: servers that behave, and servers that do not."""

from __future__ import annotations

import json
import signal
import socket
import stat
import sys
from pathlib import Path

import pytest

from candidates import GOOD, QUICK, lasting, torr_target
from installed import is_running, wait_until
from recorder import recording


def test_two_servers_are_compared(torr, matrix):
    slow = torr_target('"delay", "--delay", "5ms"')
    asked = ("--rounds", "6", "--junit", "compare.xml", "-n", "mine")
    ended = torr("compare", matrix({"one": GOOD, "two": slow}), *asked)
    assert ended.code == 0, ended.err
    assert 'failures="0"' in (ended.folder / "compare.xml").read_text()
    result = ended.result
    assert result["name"] == "mine"
    trials = {(x["candidate"], x["round"]) for x in result["levels"]}
    assert trials == {(name, number) for name in ("one", "two") for number in range(1, 7)}
    primary = next(x for x in result["verdicts"] if x["metric"] == "ok_per_s")
    assert (primary["candidate"], primary["baseline"], primary["n"]) == ("two", "one", 6)
    assert primary["ratio"] < 1
    assert result["experiment"]["answers"]["one"]["body_start"] == "Hello world"
    assert result["experiment"]["candidates"]["one"]["versions"]["torr"]
    assert "failures" not in result
    run = (ended.folder / "_output/torr/latest").resolve()
    files = [path for path in run.rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert {"result.json", "report.html", "one.log"} <= {path.name for path in files}


CHAT = """\
baseline = "cached"
rounds = 2
requests = 12
workers = 1
warmup_requests = 4
warmup = "0s"
connections = 2
chat = "openai"
model = "any"
prompt_tokens = "30..60"
prefix_tokens = 64
output_tokens = 3
monitor = { at = "vllm:http://127.0.0.1:{port}" }
url = "http://127.0.0.1:{port}"
"""


MESSAGES = """baseline = "one"
rounds = 2
duration = "200ms"
warmup = "0s"
connections = 2
url = "ws://127.0.0.1:{port}/chat"
request = { body = "hello" }
match = "MATCH"
streams = 2
"""


@pytest.mark.parametrize("matching", ["order", "none"])
def test_servers_of_messages_are_compared(torr, matrix, matching):
    echo = torr_target('"ws"')
    file = matrix({"one": echo, "two": echo}, MESSAGES.replace("MATCH", matching))
    ended = torr("compare", file)
    assert ended.code == 0, ended.err
    assert "failures" not in ended.result
    assert [level["success_rate"] for level in ended.result["levels"]] == [100.0] * 4


@pytest.mark.parametrize("restart", ["trial", "cell"])
def test_servers_of_a_chat_get_the_same_prompts_in_each_round(torr, matrix, restart):
    answers = '"openai", "--ttft", "1ms", "--itl", "1ms", "--message-tokens", "3"'
    target = torr_target(answers)
    cached = target.replace("]", ', "--prefix-cache", "100k"]')
    top = f'{CHAT}restart = "{restart}"\n'
    ended = torr("compare", matrix({"cached": cached, "plain": target}, top))
    assert ended.code == 0, ended.err
    assert "failures" not in ended.result
    sources = [x["monitor"]["serving"]["sources"] for x in ended.result["levels"]]
    assert not any(source.get("error") for (source,) in sources)
    streams = {(x["candidate"], x["round"]): x["stream"] for x in ended.result["levels"]}
    assert len(streams) == 4
    for number in (1, 2):
        one, other = streams["cached", number], streams["plain", number]
        assert one["tokens_in"] == other["tokens_in"] > 12 * 94
        assert one["tokens_cached"] >= 11 * 64
        assert not other.get("tokens_cached")
        assert one["prompts"]["reused"] == 0
        assert one["prompt_lengths"]["difference_mean"] == pytest.approx(0, abs=1e-9)
    assert "each prompt has 6 tokens of the chat template" in ended.out
    assert streams["plain", 1]["tokens_in"] != streams["plain", 2]["tokens_in"]
    (said,) = ended.result["experiment"]["differences"]
    assert said["code"] == "answers.generated"


TRACE = """\
baseline = "cached"
rounds = 2
workers = 1
connections = 2
chat = "openai"
model = "any"
trace = "trace.jsonl"
warmup_requests = 3
restart = "cell"
url = "http://127.0.0.1:{port}"
"""


def test_servers_get_the_same_rows_of_a_trace_with_other_texts_in_each_round(
    torr, matrix, tmp_path
):
    rows = [
        {"timestamp": n, "input_length": 600, "output_length": 2, "hash_ids": [1, 10 + n]}
        for n in range(10)
    ]
    (tmp_path / "trace.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    target = torr_target('"openai", "--ttft", "1ms", "--itl", "1ms"')
    cached = target.replace("]", ', "--prefix-cache", "100k"]')
    ended = torr("compare", matrix({"cached": cached, "plain": target}, TRACE))
    assert ended.code == 0, ended.err
    assert "failures" not in ended.result
    streams = {(x["candidate"], x["round"]): x["stream"] for x in ended.result["levels"]}
    assert len(streams) == 4
    assert {stream["tokens_in"] for stream in streams.values()} == {6000}
    for number in (1, 2):
        # The server runs for all rounds, and has nothing of an earlier one.
        assert 8 * 512 <= streams["cached", number]["tokens_cached"] <= 9 * 512
        assert not streams["plain", number].get("tokens_cached")


@pytest.mark.full
def test_a_comparison_is_kept_with_what_file_and_flags_say_of_it(torr, matrix, own_store):
    top = 'note = "of the file"\ntag = ["nightly"]\n' + QUICK
    file = matrix({"one": GOOD, "two": GOOD}, top)
    assert torr("compare", "-q", file).code == 0
    assert torr("compare", "-q", "--note", "typed", file).code == 0
    newest, first = json.loads(torr("runs", "list", "-o", "json").out)
    assert (first["kind"], first["note"], first["tags"]) == ("compare", "of the file", ["nightly"])
    assert newest["note"] == "typed"
    assert own_store.exists()


@pytest.mark.full
def test_what_torr_writes_beside_the_servers_is_not_theirs(torr, matrix):
    ended = torr("compare", matrix({"one": GOOD, "two": GOOD}), "--rounds", "2", "-d", ".")
    assert ended.code == 0, ended.err
    result = json.loads(next(Path(ended.folder).glob("**/latest/result.json")).read_text())
    assert len(result["levels"]) == 4
    assert "failures" not in result


def test_servers_may_stay_up_through_their_cell(torr, matrix, server, tmp_path):
    setup = f"open({str(tmp_path / 'starts.log')!r}, 'a').write('up\\n')"
    (tmp_path / "starts.log").touch()
    top = f'restart = "cell"\n{QUICK}[factors]\nconnections = [1, 2]\n'.replace(
        "connections = 2\n", ""
    )
    ended = torr("compare", matrix({"one": server(setup=setup), "two": GOOD}, top), "--rounds", "2")
    assert ended.code == 0, ended.err
    assert len(ended.result["levels"]) == 8
    assert "failures" not in ended.result
    assert (tmp_path / "starts.log").read_text() == "up\n" * 2
    assert ended.result["experiment"]["restart"] == "cell"
    assert "servers kept running through a cell" in ended.out


@pytest.mark.full
def test_a_matrix_asks_what_it_is_told_to(torr, matrix):
    with recording(lambda _seen: (200, {}, b"queue_length 7\n")) as metrics:
        said = f'monitor = {{ at = "{metrics.url}/metrics", names = ["queue_length"] }}'
        top = f"{said}\n{lasting('1200ms')}"
        ended = torr("compare", matrix({"one": GOOD, "two": GOOD}, top))
    assert ended.code == 0, ended.err
    for level in ended.result["levels"]:
        (endpoint,) = level["monitor"]["endpoints"]
        assert [series["name"] for series in endpoint["series"]] == ["queue_length"]


def test_a_process_is_no_endpoint_of_a_matrix(torr, matrix):
    ended = torr("compare", matrix({"one": GOOD, "two": GOOD}, f"monitor = [1]\n{QUICK}"))
    assert ended.code == 2
    assert "matrix.toml:1: monitor: 1 is a process" in ended.err


def test_no_secret_of_a_candidate_is_kept(torr, matrix, server):
    setup = "Answer.end_headers = lambda s: (s.send_header('set-cookie', 'sid=hush'), END(s))"
    setup = f"END = Answer.end_headers; {setup}"
    command = server(setup=setup).replace("]", ', "--token=hush"]')
    ended = torr("compare", matrix({"one": command, "two": GOOD}))
    assert ended.code == 0, ended.err
    assert ended.result["experiment"]["answers"]["one"]["headers"]["set-cookie"] == "***"
    assert "hush" not in json.dumps(ended.result["experiment"])


def test_the_plan_starts_nothing(torr, matrix, tmp_path):
    ended = torr("compare", "--plan", matrix({"one": '["no-such-server"]', "two": GOOD}))
    assert ended.code == 0, ended.err
    assert "2 trials in 1 cell" in ended.out
    assert "too few for any verdict, at least 6 are needed" in ended.out
    assert not (tmp_path / "_output").exists()


def test_the_plan_says_what_the_other_metrics_need(torr, matrix):
    said = "enough for verdicts if trials differ little"
    ended = torr("compare", "--plan", "--rounds", "6", matrix({"one": GOOD, "two": GOOD}))
    assert f"{said}; the other metrics need at least 8" in ended.out
    ended = torr("compare", "--plan", "--rounds", "8", matrix({"one": GOOD, "two": GOOD}))
    assert f"{said}\n" in ended.out


def test_what_goes_wrong_is_an_outcome_and_the_others_go_on(torr, matrix, server):
    deaf = server("deaf", setup="import signal; signal.signal(15, signal.SIG_IGN)")
    bad = {
        "one": GOOD,
        "absent": '["no-such-server"]',
        "wrong": server("wrong", body=b"Bye"),
        "dead": server("dead", limit=8),
        "deaf": f"{deaf}\ngrace = '200ms'",
        "mute": f'["{sys.executable}", "-c", "import sys; print(42); sys.exit(7)"]',
    }
    top = f'{lasting("1s")}expect = {{ status = 200, body = "Hello world" }}\n'
    ended = torr("compare", matrix(bad, top))
    assert ended.code == 0, ended.err
    result = ended.result
    kinds = {failure["candidate"]: failure["kind"] for failure in result["failures"]}
    assert kinds == {
        "absent": "not_found",
        "wrong": "wrong_answer",
        "dead": "died",
        "deaf": "did_not_stop",
        "mute": "did_not_start",
    }
    assert "one" in {level["candidate"] for level in result["levels"]}
    tails = {failure["candidate"]: failure["log_tail"] for failure in result["failures"]}
    assert tails["mute"] == ["42"]


def test_where_nothing_could_be_measured(torr, matrix):
    ended = torr("compare", matrix({"one": '["no-such-server"]', "two": '["nor-this"]'}))
    assert ended.code == 3
    assert "no-such-server" in ended.err or "nor-this" in ended.err
    assert ended.result["levels"] == []


def test_a_server_that_prints_without_end_fills_no_disk(torr, matrix, server):
    shout = "lambda: [print('x' * 999) for _ in iter(int, 1)]"
    loud = f"import threading; threading.Thread(target={shout}, daemon=True).start()"
    ended = torr("compare", matrix({"one": GOOD, "loud": server("loud", setup=loud)}))
    assert ended.code == 0, ended.err
    logs = ended.folder / "_output/torr/latest/logs"
    assert sum(path.stat().st_size for path in logs.iterdir()) < 10_000_000


def test_a_port_that_is_taken_is_somebody_elses(torr, matrix):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        top = QUICK.replace("{port}", str(port))
        ended = torr("compare", matrix({"one": GOOD, "two": GOOD}, top))
    assert ended.code == 3
    assert {x["kind"] for x in ended.result["failures"]} == {"port_taken"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_however_it_ends_no_server_stays(start, matrix, tmp_path, server, number):
    pid_file = tmp_path / "pid"
    setup = f"open({str(pid_file)!r}, 'w').write(str(os.getpid()))"
    top = lasting("30s")
    process = start("compare", matrix({"one": server(setup=setup), "two": GOOD}, top))
    wait_until(lambda: pid_file.exists() and pid_file.read_text())
    process.send_signal(number)
    process.wait(120)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    wait_until(lambda: not is_running(int(pid_file.read_text())))


def test_a_full_disk_ends_it_with_the_finished_trials_and_no_server_left_and_it_goes_on(
    torr, matrix, tmpfs, server, tmp_path
):
    pids = tmp_path / "pids"
    setup = f"open({str(pids)!r}, 'a').write(f'{{os.getpid()}}\\n')"
    name = matrix({"one": server(setup=setup), "two": GOOD}, QUICK.replace("= 1", "= 3"))
    with tmpfs("size=20m") as disk:
        filler = disk / "filler"
        filler.write_bytes(bytes(20 * 2**20 - 220_000))
        ended = torr("compare", name, "-d", disk / "out")
        assert ended.code == 2, ended.err
        assert "No space left on device" in ended.err
        (kept,) = disk.glob("out/*-*/result.json")
        before = json.loads(kept.read_text())["levels"]
        assert 0 < len(before) < 6
        assert f"free disk space and continue with --resume {kept.parent}" in ended.err
        assert not any(is_running(int(pid)) for pid in pids.read_text().split())
        filler.unlink()
        ended = torr("compare", name, "--resume", kept.parent)
        assert ended.code == 0, ended.err
        after = json.loads(kept.read_text())
    assert after["status"] == "complete"
    assert after["levels"][: len(before)] == before
    assert len(after["levels"]) == 6


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("connections = 2", "conections = 2", "did you mean connections?"),
        ("connections = 2", "connections = 0", "connections"),
        ("rounds = 1", "levels = 3", "there is no 'levels' here"),
        ('"0s"', '"0"', "has no unit"),
    ],
)
def test_what_is_wrong_in_the_file_is_named(torr, matrix, old, new, words):
    ended = torr("compare", matrix({"one": GOOD, "two": GOOD}, QUICK.replace(old, new)))
    assert ended.code == 2
    assert words in ended.err
    assert "matrix.toml:" in ended.err


def test_cores_that_are_not_there(torr, matrix):
    ended = torr("compare", matrix({"one": GOOD, "two": GOOD}), "--pin", "0/977")
    assert ended.code == 2
    assert "core 977 is not there" in ended.err
