"""`torr ladder` and `torr diff` as a user calls them."""

from __future__ import annotations

import json
import shutil
import signal

import pytest

import torr as torr_package
from installed import wait_until

QUICK = ("-z", "200ms", "--warmup", "100ms")
MANY = ",".join(map(str, range(1, 21)))


def results(folder):
    return list(folder.glob("**/apiserver-*/result.json"))


@pytest.mark.full
def test_an_automatic_ladder_claims_no_more_than_its_server_can_do(torr, target):
    # That it finds the knee is tested on doubles: real load on a busy machine shows any knee.
    server = target("delay", "--delay", "5ms", "--capacity", 16)
    ended = torr("ladder", "--levels", "auto", "-z", "1s", "--warmup", "200ms", server.url)
    assert ended.code == 0, ended.err
    capacity = ended.result["capacity"]
    assert capacity["knee"] is not None or capacity["reasons"]["knee"]
    # 16 at once, 5 ms each: in 1 s each place ends at most 201.
    assert 0 < capacity["peak"]["ok_per_s"] <= 16 * 201
    root = ended.folder / "_output/torr"
    for name in ("apiserver.dat", "apiserver_qps_ttlb.png", "apiserver_successrate.png"):
        assert (root / name).stat().st_size > 0


def test_rounds_and_levels_are_all_in_the_result(torr, steady):
    levels = ("--levels", "1,2,4", "--rounds", 2, "-z", "600ms", "--warmup", "0s")
    ended = torr("ladder", *levels, steady.url)
    assert ended.code == 0, ended.err
    found = [(level["round"], level["concurrency"]) for level in ended.result["levels"]]
    assert found == [(1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (2, 4)]


def test_a_ladder_of_rates_finds_no_more_than_its_server_can_do(torr, target):
    # 10 at once, 50 ms each: 200 a second, of which a busy machine may answer fewer.
    server = target("delay", "--delay", "50ms", "--capacity", 10)
    ended = torr("ladder", "--rates", "20,1k", *QUICK, server.url)
    assert ended.code == 0, ended.err
    levels = ended.result["levels"]
    assert [level["rate"] for level in levels] == [20, 1000]
    assert levels[1]["falls_behind"]
    assert levels[1]["ok_per_s"] <= 10 * (200 / 50 + 1) / 0.2
    assert ended.result["capacity"]["usl"] is None


def test_a_killed_ladder_leaves_its_finished_levels(start, steady, tmp_path):
    process = start("ladder", "--levels", MANY, "-z", "1s", "--warmup", "0s", steady.url)
    wait_until(lambda: results(tmp_path))
    process.kill()
    process.wait()
    result = json.loads(results(tmp_path)[0].read_text())
    assert result["levels"][0]["concurrency"] == 1
    assert result["status"] == "interrupted"
    lines = (results(tmp_path)[0].parent / "intervals.jsonl").read_text().splitlines()
    assert lines
    assert all(json.loads(line) for line in lines)


def test_an_interrupted_ladder_reports_its_finished_levels(start, steady, tmp_path):
    process = start("ladder", "--levels", MANY, "-z", "1s", "--warmup", "0s", steady.url)
    wait_until(lambda: results(tmp_path))
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "peak" in out
    result = json.loads(results(tmp_path)[0].read_text())
    assert result["status"] == "interrupted"
    assert 1 <= len(result["levels"]) < 20


def test_a_full_disk_leaves_the_finished_levels_and_says_so(torr, steady, tmpfs, tmp_path):
    with tmpfs("size=600k") as disk:
        levels = ",".join(str(n) for n in range(1, 60))
        ended = torr("ladder", "--levels", levels, *QUICK, "-d", disk / "out", steady.url)
        assert ended.code == 2, ended.err
        assert "No space left on device" in ended.err
        assert json.loads(results(disk)[0].read_text())["levels"]
        assert not list(results(disk)[0].parent.glob(".*"))
        # Where there is room, the newest levels get into the result, too.
        copy = shutil.copytree(results(disk)[0].parent, tmp_path / "copy")
    assert f"{len(torr_package.load(copy).levels)} finished level" in ended.err


def test_a_read_only_file_system_is_refused_before_any_load(torr, own_steady, tmpfs):
    with tmpfs("ro") as disk:
        ended = torr("ladder", "-d", disk / "out", own_steady.url)
    assert ended.code == 2
    assert "-d/--dir" in ended.err
    assert "Read-only file system" in ended.err
    assert own_steady.stop()["connections"] == 0


def test_levels_beyond_the_descriptors_are_marked_and_the_ladder_goes_on(torr, target):
    import resource

    slow = target("delay", "--delay", "5ms")
    few = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))}
    levels = ("--levels", "10,20,400,500", "-z", "500ms", "--warmup", "100ms")
    ended = torr("ladder", *levels, "--processes", 1, slow.url, **few)
    assert ended.code == 0, ended.err
    levels = ended.result["levels"]
    claimed = [x["concurrency"] for x in levels if x["health"]["verdict"] != "generator-limited"]
    # On a busy machine the generator may be the limit of the others, too.
    assert [level["concurrency"] for level in levels] == [10, 20, 400, 500]
    assert not {400, 500} & {*claimed}
    data = (ended.folder / "_output/torr/apiserver.dat").read_text()
    rows = [line.split()[0] for line in data.splitlines() if not line.startswith("#")]
    assert rows == [f"{users}" for users in claimed]


def test_old_data_files_are_compared(torr, tmp_path):
    (tmp_path / "old.dat").write_text("# wrktest\n200 1000.5 4.33 100%\n500 900 9 99.5%\n")
    (tmp_path / "new.dat").write_text("200 2000 2.1 100\n500 1800 4 100\n1000 1700 9 100\n")
    ended = torr("diff", "old.dat", "new.dat")
    assert ended.code == 0, ended.err
    assert "2.00 ×" in ended.out
    root = tmp_path / "_output/torr"
    assert (root / "old_new.qps.ttlb.diff.png").exists()
    assert (root / "old_new.success_rate.diff.png").exists()
