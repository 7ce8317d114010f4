"""`torr run` against its own targets: numbers that agree, files that are there, honest ends."""

from __future__ import annotations

import csv
import json
import signal
import socket

import pytest

from installed import wait_until
from torr.results.result import read

QUICK = ("-z", "300ms", "--warmup", "100ms", "-c", "4")


def balances(counts):
    ended = counts["ok"] + sum(counts["errors"].values())
    return (
        counts["planned"] == counts["attempted"] + counts["dropped"]
        and counts["attempted"] == ended + counts["in_flight"]
    )


def test_a_run_says_its_verdict_and_leaves_a_valid_result(judged_torr, target):
    # One that answers at once fills both cores, and then the verdict may be about the generator.
    ended = judged_torr("run", *QUICK, target("delay", "--delay", "5ms").url)
    assert ended.code == 0, ended.err
    assert ended.out.startswith("Answers ")
    assert ended.err == ""
    latest = ended.folder / "_output/torr/latest"
    result = read(latest / "result.json")
    assert result.status == "complete"
    assert result.levels[0].counts.ok > 0
    assert balances(ended.level["counts"])
    for name in ("report.html", "summary.md", "levels.csv", "intervals.jsonl"):
        assert (latest / name).stat().st_size > 0


def test_the_targets_own_count_agrees(torr, own_steady):
    ended = torr("run", *QUICK, own_steady.url)
    counts = own_steady.stop()
    level = ended.level
    assert (
        counts["requests"] == level["counts"]["attempted"] + level["warmup"]["counts"]["attempted"]
    )
    assert counts["connections"] == 4


def test_intervals_add_up_to_their_level(torr, steady):
    level = torr("run", *QUICK, steady.url).level
    kept = [piece for piece in level["intervals"] if piece["phase"] != "warmup"]
    assert sum(piece["counts"]["ok"] for piece in kept) == level["counts"]["ok"]


def test_intervals_of_the_warm_up_count_up_to_the_window(torr, steady):
    level = torr("run", *QUICK, "--warmup", "1s", steady.url).level
    starts = [piece["t_s"] for piece in level["intervals"] if piece["phase"] == "warmup"]
    assert len(starts) > 1
    assert starts == sorted(set(starts))
    assert starts[-1] < 0


def test_a_constant_rate_is_kept(torr, steady):
    ended = torr("run", "--rate", 2000, "-z", "300ms", "--warmup", "100ms", steady.url)
    level = ended.level
    assert level["rate"] == 2000
    assert level["counts"]["planned"] == pytest.approx(600, abs=2)
    assert balances(level["counts"])


def test_no_keepalive_dials_for_each_request(torr, own_steady):
    torr("run", "--no-keepalive", "--requests", 50, "--warmup", "0s", "-c", 2, own_steady.url)
    assert own_steady.stop()["connections"] == 50


def test_method_headers_and_body_go_out_as_asked(torr, own_steady):
    sent = torr(
        "run", "--once", "-v", "-m", "PUT", "-H", "x-user: ann", "-b", "hi", own_steady.url + "/p"
    )
    assert sent.code == 0, sent.err
    assert "> PUT /p HTTP/1.1" in sent.out
    assert "> x-user: ann" in sent.out
    assert "> user-agent: torr/" in sent.out
    assert "\nhi\n" in sent.out
    assert "< HTTP/1.1 200" in sent.out
    assert "Hello world" in sent.out
    assert own_steady.stop()["requests"] == 1


def test_once_shows_nothing_of_a_request_that_never_went_out(torr):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}/"
        ended = torr("run", "--once", "-v", "--basic-auth", "ann:hush", url)
    assert (ended.code, ended.out) == (3, "")
    assert "connect.refused" in ended.err


def test_once_without_verbose_is_one_line(torr, steady):
    ended = torr("run", "--once", steady.url)
    assert ended.code == 0
    assert ended.out.startswith("200 from 127.0.0.1:")
    assert len(ended.out.splitlines()) == 1


def test_once_marks_an_answer_that_is_not_accepted(torr, steady):
    ended = torr("run", "--once", "--expect-status", "404", steady.url)
    assert ended.code == 3
    assert ended.out.startswith("200 (not accepted) from 127.0.0.1:")
    assert "status 200 counts as failed" in ended.err
    assert "--expect-status 200" in ended.err


def test_a_log_has_a_row_for_each_exchange(torr, steady):
    ended = torr("run", "--requests", 100, "--warmup", "0s", "--log", "all.csv", steady.url)
    with (ended.folder / "all.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 100
    assert {row["class"] for row in rows} == {"ok"}
    assert {row["status"] for row in rows} == {"200"}


def test_an_slo_does_not_pass_when_every_request_fails(torr, target):
    faulty = target("faulty", "--fault", "status_503", "--share", "100%")
    ended = torr("run", *QUICK, "--slo", "p95 < 500ms", faulty.url)
    assert ended.code == 1, ended.err
    # On a busy machine torr may be slower than a target that answers at once.
    is_limited = ended.level["health"]["verdict"] == "generator-limited"
    why = "the generator was the limit" if is_limited else "no request succeeded"
    assert why in ended.err


def test_503s_are_data(torr, target):
    faulty = target("faulty", "--fault", "status_503", "--share", "50%")
    level = torr("run", *QUICK, faulty.url).level
    assert level["counts"]["errors"]["status"] == level["reasons"]["status.503"] > 0
    assert level["counts"]["ok"] > 0
    assert balances(level["counts"])


def test_a_target_that_never_answers_ends_with_3_and_what_was_tried(torr, target):
    silent = target("faulty", "--fault", "hang", "--share", "100%")
    flags = ("-z", "20s", "--warmup", "20s", "--timeout", "500ms")
    ended = torr("run", *flags, "-c", 3, silent.url)
    assert ended.code == 3
    assert "tried GET http://127.0.0.1:" in ended.err
    assert ended.level["counts"]["planned"] == 0, "it gave up before the window"
    assert ended.result["status"] == "failed"


def intervals_on_disk(folder):
    found = list(folder.glob("_output/torr/*/intervals.jsonl"))
    return found[0].read_text().splitlines() if found else []


def intervals(folder):
    """What is on disk so far; a line that is being written is left out."""
    texts = [path.read_text() for path in folder.glob("_output/torr/*/intervals.jsonl")]
    whole = "".join(texts[:1]).rpartition("\n")[0]
    return [json.loads(line) for line in whole.splitlines()]


def test_one_interrupt_keeps_and_reports_everything(start, target, tmp_path):
    process = start(
        "run", "-z", "60s", "-c", 4, "--warmup", "0s", target("delay", "--delay", "5ms").url
    )
    wait_until(lambda: len(intervals_on_disk(tmp_path)) >= 2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert out.startswith("Claims nothing: ")
    assert "has the results of 1 level" in err
    result = json.loads((tmp_path / "_output/torr/latest/result.json").read_text())
    assert result["status"] == "interrupted"
    level = result["levels"][0]
    assert level["counts"]["ok"] > 0
    assert balances(level["counts"])
    # What the window was, not what was planned.
    assert level["cut_short"]
    inside = level["ok_per_s"] * level["seconds"]
    # Each of the 4 users may have its last response after the window.
    assert level["counts"]["ok"] - 4 <= round(inside) <= level["counts"]["ok"]
    assert level["seconds"] < 30
    assert (tmp_path / "_output/torr/latest/report.html").exists()


def test_two_interrupts_end_at_once_and_keep_what_was_measured(start, target, tmp_path):
    slow = target("delay", "--delay", "50s")
    process = start("run", "-z", "60s", "-c", 4, "--warmup", "0s", "--timeout", "55s", slow.url)
    wait_until(lambda: intervals_on_disk(tmp_path))
    process.send_signal(signal.SIGINT)
    # The first one ends the window and awaits the open requests: an interval of the drain shows it.
    wait_until(lambda: any(piece["phase"] == "drain" for piece in intervals(tmp_path)))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert process.returncode == 130
    result = json.loads((tmp_path / "_output/torr/latest/result.json").read_text())
    assert result["levels"][0]["counts"]["in_flight"] == 4
    assert balances(result["levels"][0]["counts"])


def test_a_target_killed_and_started_again_is_data(start, target, tmp_path):
    first = target("hello")
    port = first.url.rpartition(":")[2]
    process = start("run", "-z", "60s", "-c", 4, "--warmup", "0s", first.url)
    wait_until(lambda: intervals_on_disk(tmp_path))
    first.process.kill()
    first.process.wait()
    wait_until(lambda: any(piece["reasons"] for piece in intervals(tmp_path)))
    down = len(intervals(tmp_path))
    target("hello", "--port", port)
    wait_until(lambda: any(piece["counts"]["ok"] for piece in intervals(tmp_path)[down:]))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert process.returncode == 130
    level = json.loads((tmp_path / "_output/torr/latest/result.json").read_text())["levels"][0]
    # A connection that was accepted when the target died may be reset in place of refused.
    reasons = {name: n for name, n in level["reasons"].items() if name.startswith("connect.")}
    assert level["counts"]["errors"]["connect"] == sum(reasons.values())
    assert reasons["connect.refused"] > 0
    assert balances(level["counts"])


def test_health_says_how_much_each_worker_had_not_read(torr, steady):
    level = torr("run", *QUICK, "--workers", 2, steady.url).level
    assert len(level["health"]["receive_queue_bytes"]) == 2
    healths = [piece["health"] for piece in level["intervals"]]
    assert all("receive_queue_bytes" in health for health in healths)
