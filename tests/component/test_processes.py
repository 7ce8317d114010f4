"""`--processes`: several light processes fire one load, and count as one does."""

from __future__ import annotations

import csv
import json
import os
import resource
import signal
import subprocess

import pytest

from installed import children_of, is_running, wait_until
from tiers import full
from torr.children import command

QUICK = ("-z", "300ms", "--warmup", "100ms", "-c", 6)
LONG = ("run", "-z", "60s", "-c", 6, "--warmup", "0s", "--processes", 3)
FEW = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))}


def balances(counts):
    ended = counts["ok"] + sum(counts["errors"].values())
    return (
        counts["planned"] == counts["attempted"] + counts["dropped"]
        and counts["attempted"] == ended + counts["in_flight"]
    )


def kept_intervals(folder):
    texts = [path.read_text() for path in folder.glob("_output/torr/*/intervals.jsonl")]
    return "".join(texts).count("\n")


def firing(process, count=3):
    """The children of a load that has brought its first intervals."""
    return wait_until(lambda: len(found := children_of(process.pid)) == count and found)


@pytest.mark.parametrize("processes", [1, 3])
def test_a_counted_load_is_the_same_with_any_number_of_processes(torr, own_steady, processes):
    flags = ("--requests", 321, "--warmup", "0s", "-c", 7, "--processes", processes)
    ended = torr("run", *flags, own_steady.url)
    assert ended.code == 0, ended.err
    level = ended.level
    assert level["counts"]["attempted"] == level["counts"]["ok"] == 321
    assert level["latency"]["service_ms"]["n"] == 321
    assert level["connections"] == {"requested": 7, "open_max": 7, "opened": 7}
    assert (level["generator"]["processes"], level["warnings"]) == (processes, [])
    seen = own_steady.stop()
    assert (seen["requests"], seen["connections"]) == (321, 7)


def test_the_targets_own_count_agrees_over_warm_up_and_window(torr, own_steady):
    level = torr("run", *QUICK, "--processes", 3, "--workers", 4, own_steady.url).level
    counts, before = level["counts"], level["warmup"]["counts"]
    assert own_steady.stop()["requests"] == counts["attempted"] + before["attempted"]
    assert balances(counts)
    kept = [piece for piece in level["intervals"] if piece["phase"] != "warmup"]
    assert sum(piece["counts"]["ok"] for piece in kept) == counts["ok"]
    assert level["generator"]["workers"] == 4


def test_faults_are_counted_and_an_abort_condition_ends_all_processes(torr, target):
    faulty = target("faulty", "--fault", "status_503", "--share", "50%")
    flags = ("-z", "60s", "-c", 6, "--warmup", "0s", "--processes", 3)
    ended = torr("run", *flags, "--abort-on", "errors > 5%", faulty.url)
    assert ended.code == 1
    level = ended.level
    assert level["seconds"] < 60
    assert level["counts"]["errors"]["status"] == level["reasons"]["status.503"] > 0
    assert balances(level["counts"])
    seen = faulty.stop()
    assert (seen["requests"], seen["faults"]["status_503"]) == (
        level["counts"]["attempted"],
        level["reasons"]["status.503"],
    )


@pytest.mark.parametrize("arrivals", ["constant", *full("poisson")])
def test_a_rate_is_shared_out(torr, steady, arrivals):
    flags = ("--rate", 2000, "--arrivals", arrivals, "-z", "300ms", "--warmup", "100ms")
    level = torr("run", *flags, "--processes", 3, steady.url).level
    assert level["rate"] == 2000
    # Constant arrivals are those of the one schedule; of Poisson's, 600 ± 6 standard deviations.
    slack = 3 if arrivals == "constant" else 147
    assert level["counts"]["planned"] == pytest.approx(600, abs=slack)
    assert balances(level["counts"])


def test_a_log_has_a_row_for_each_exchange_of_each_process(torr, steady):
    flags = ("--requests", 100, "--warmup", "0s", "-c", 6, "--log", "all.csv")
    ended = torr("run", *flags, "--processes", 3, steady.url)
    with (ended.folder / "all.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["status"] for row in rows] == ["200"] * 100
    assert all(int(row["intended_ns"]) <= int(row["last_byte_ns"]) for row in rows)


def test_each_level_of_a_ladder_has_its_processes(torr, steady):
    quick = ("-z", "300ms", "--warmup", "100ms", "--processes", 2)
    ended = torr("ladder", "--levels", "1,2,4", *quick, steady.url)
    assert ended.code == 0, ended.err
    # One connection cannot be shared out.
    assert [level["generator"]["processes"] for level in ended.result["levels"]] == [1, 2, 2]


def test_auto_takes_as_many_processes_as_the_descriptors_ask_for(torr, target):
    slow = target("delay", "--delay", "5ms")
    # The window begins when all connections are open.
    load = ("--levels", "50,400", "-z", "300ms", "--warmup", "300ms", "--timeout", "30s")
    ended = torr("ladder", *load, slow.url, **FEW)
    small, large = ended.result["levels"]
    assert small["generator"]["processes"] == 1
    assert large["generator"]["processes"] > 1
    assert large["connections"]["open_max"] == 400
    assert large["counts"]["errors"] == {}
    assert slow.stop()["connections"] == 450


def test_an_interrupt_of_the_whole_terminal_keeps_and_reports_everything(
    start, own_steady, tmp_path
):
    process = start(*LONG, own_steady.url, start_new_session=True)
    children = firing(process)
    wait_until(lambda: kept_intervals(tmp_path) >= 2)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    level = json.loads((tmp_path / "_output/torr/latest/result.json").read_text())["levels"][0]
    assert level["counts"]["ok"] > 0
    assert balances(level["counts"])
    assert (level["warnings"], level["failure"]) == ([], None)
    assert own_steady.stop()["requests"] == level["counts"]["attempted"]
    assert not any(map(is_running, children))


def test_processes_end_with_who_started_them(start, steady):
    process = start(*LONG, steady.url)
    children = firing(process)
    process.kill()
    process.wait()
    wait_until(lambda: not any(map(is_running, children)))


def test_a_process_that_is_killed_is_said_and_the_level_claims_nothing(start, own_steady, tmp_path):
    process = start(*LONG, "-z", "5s", "--strict", own_steady.url)
    children = firing(process)
    wait_until(lambda: kept_intervals(tmp_path) >= 3)
    os.kill(children[0], signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 4, err
    assert "an engine process died" in out
    level = json.loads((tmp_path / "_output/torr/latest/result.json").read_text())["levels"][0]
    assert level["health"]["verdict"] == "generator-limited"
    (warning,) = level["warnings"]
    assert warning["code"] == "warning.process_lost"
    assert warning["values"]["end"]["values"]["cause"]["values"] == {"signal": 9}
    assert level["seconds"] == 5.0
    assert balances(level["counts"])
    assert own_steady.stop()["requests"] >= level["counts"]["attempted"]


def test_a_child_imports_nothing_but_the_engine():
    words = command("fire")
    words[4] += "; print(*sys.modules, file=sys.stderr)"
    ended = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    loaded = set(ended.stderr.split())
    assert {name for name in loaded if name.split(".")[0] == "torr"} == {"torr", "torr._engine"}
    assert not loaded & {"site", "json", "click", "numpy", "signal", "subprocess", "threading"}


@pytest.mark.parametrize("text", ["0", "65", "few", "-1"])
def test_a_number_of_processes_that_cannot_be_is_refused(torr, text):
    ended = torr("run", "--processes", text, "http://127.0.0.1:9/")
    assert ended.code == 2
    assert "--processes" in ended.err
