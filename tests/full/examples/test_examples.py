"""Every example runs and shows what it promises."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import torr
from documents import ROOT
from installed import TORR

EXAMPLES = ROOT / "examples"
MOST_LINES = 40
# What tools write, whose pages nobody reads.
GENERATED = ("go.mod", "go.sum", "torr.json")
# A whole suite, not an example of one thing.
SUITE = EXAMPLES / "litefs_suite"
NOTEBOOK = EXAMPLES / "notebook.ipynb"
QUICK = {"LEVELS": "5,10"}


def files():
    return sorted(path for path in EXAMPLES.rglob("*") if path.is_file())


def levels(ended, name):
    lines = (ended.folder / f"_output/torr/{name}.dat").read_text().splitlines()
    return [line.split()[0] for line in lines]


def test_a_ladder_under_slos(example, quick):
    ended = example("ladder_healthz.sh", quick, **QUICK, DURATION="3s")
    assert ended.code == 0, ended.err
    assert levels(ended, "healthz") == ["5", "10"]
    assert "capacity under SLO  10" in ended.out


def test_a_ladder_whose_slo_breaks_ends_with_1(example, serve):
    url, _ = serve(TORR, "target", "delay", "--delay", "600ms")
    ended = example("ladder_healthz.sh", url, LEVELS="200", DURATION="2s")
    assert ended.code == 1, ended.err
    assert "p95 < 500ms" in ended.err


def test_a_server_is_compared_with_the_bare_one(example, serve, go_servers):
    url, _ = serve(go_servers / "slow", "-port", 0)
    ended = example("compare_with_bare.sh", url, LEVELS="5")
    assert ended.code == 0, ended.err
    assert "yours answers" in ended.out
    assert levels(ended, "bare") == levels(ended, "yours") == ["5"]
    assert (ended.folder / "_output/torr/bare_yours.qps.ttlb.diff.png").stat().st_size > 0


@pytest.mark.usefixtures("go_servers")
def test_a_proxy_is_compared_with_what_is_behind_it(example, free_ports):
    bare, proxy = map(str, free_ports)
    ended = example("behind_nginx.sh", BARE_PORT=bare, PROXY_PORT=proxy, LEVELS="5")
    assert ended.code == 0, ended.err
    assert "proxy answers" in ended.out
    assert levels(ended, "bare") == levels(ended, "proxy") == ["5"]


def test_an_old_data_file_gives_the_levels_and_one_side(example, quick, tmp_path):
    (tmp_path / "apiserver.dat").write_text("# 2020\n5 1000.5 4.33 100%\n10 900 9 99.5%\n")
    ended = example("wrktest_dat.sh", "apiserver.dat", quick)
    assert ended.code == 0, ended.err
    assert levels(ended, "today") == ["5", "10"]
    assert "apiserver_today.success_rate.diff.png" in ended.out


def test_an_open_load_shows_what_visitors_feel(example, quick):
    ended = example("open_load.sh", quick, RATE="200", DURATION="6s")
    # Where a busy machine has requests start late nothing is claimed, and an SLO is not shown.
    is_limited = "not shown: the generator was the limit" in ended.err
    assert ended.code == (1 if is_limited else 0), ended.err
    assert "200/s asked for" in ended.out
    assert "p99 < 250ms" in ended.out


def test_faults_are_counted_by_reason(example):
    ended = example("faults_are_data.sh")
    assert ended.code == 1, ended.err
    assert "read.reset_in_body" in ended.out
    assert "broken     success >= 99%" in ended.out


def test_times_agree_with_the_log_of_the_target(example):
    ended = example("known_target.sh", DURATION="1s")
    assert ended.code == 0, ended.err
    target, torr = (
        re.search(rf"^{side} +([\d,]+) +([\d.]+) ms .* ([\d.]+) ms$", ended.out, re.MULTILINE)
        for side in ("target", "torr")
    )
    assert target[1] == torr[1]
    # No delay is shorter than drawn, and the client never sees less than the target took. How
    # close they are is measured on a quiet machine: benches/truth.
    for at, drawn_ms in ((2, 2), (3, 50)):
        assert drawn_ms <= float(target[at]) <= float(torr[at])


def test_a_result_is_read_with_the_standard_library(example, quick):
    assert example("ladder_healthz.sh", quick, LEVELS="5", DURATION="3s").code == 0
    ended = example("read_result.py")
    assert ended.code == 0, ended.err
    assert ended.out.startswith("healthz: torr ladder, ")
    assert re.search(r"^ +5 .* 100\.00 % ", ended.out, re.MULTILINE)
    assert "peak" in ended.out


LOCUST = ["--headless", "-u", 10, "-r", 10, "-t", "2s", "--stop-timeout", 10, "--json"]
CHATS = {"simple", "complex"}  # by chance there may be no complex ones


def rows(ended):
    """What Locust counted, by the names of its rows: requests and failures."""
    return {
        row["name"]: (row["num_requests"], row["num_failures"]) for row in json.loads(ended.out)
    }


def test_a_locustfile_of_a_site(example, quick):
    ended = example("locust_site.py", "-H", quick, *LOCUST)
    assert ended.code == 0, ended.err
    counted = rows(ended)
    assert "/" in counted
    assert counted.keys() <= {"/", "/api/test"}
    assert all(requests > 0 and failed == 0 for requests, failed in counted.values())


def test_a_locustfile_of_chats(example, serve):
    url, _ = serve(TORR, "target", "dify", "--itl", "1ms")
    ended = example("locust_dify.py", "-H", url, *LOCUST)
    assert ended.code == 0, ended.err
    counted = rows(ended)
    assert counted["retrieval"][0] > 0
    assert counted.keys() & CHATS
    for name in counted.keys() & CHATS:
        assert counted[name] == counted[f"{name}: TTFB"] == counted[f"{name}: Full Response"]
    assert all(failed == 0 for _, failed in counted.values())


def test_a_stream_that_is_cut_short_is_a_failure_to_the_locustfile(example, serve):
    url, _ = serve(TORR, "target", "dify", "--fault", "truncate:1")
    ended = example("locust_dify.py", "-H", url, *LOCUST)
    assert ended.code == 1, ended.err
    counted = rows(ended)
    assert counted.keys() & CHATS
    for name in counted.keys() & CHATS:
        requests, failed = counted[name]
        assert failed == requests
        assert f"{name}: Full Response" not in counted


def cells():
    """The code of the notebook, cell by cell."""
    found = json.loads(NOTEBOOK.read_text())["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == "code"]


def code_of(path):
    assert path == NOTEBOOK
    return "\n".join(cells())


def test_the_notebook_runs_from_its_first_cell_to_its_last(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DURATION", "300ms")
    names = {}
    shown = [evaluated(cell, names) for cell in cells()]
    pages = [value._repr_html_() for value in shown if isinstance(value, torr.Result)]
    assert [html.count("<iframe") for html in pages] == [1, 1]
    # On a busy machine the SLO may be broken, or not shown.
    (verdict,) = names["result"].slo_verdicts
    assert names["result"].passed == (verdict.word == "held")
    assert [level.concurrency for level in names["ladder"].levels] == [2, 4, 8, 16, 32, 64]
    assert capsys.readouterr().out.count("connections …") == 6
    assert json.loads(NOTEBOOK.read_text())["nbformat"] == 4


def evaluated(cell, names):
    """Run a cell as a notebook does; the value of its last expression."""
    *body, last = ast.parse(cell).body
    if not isinstance(last, ast.Expr):
        body.append(last)
    exec(compile(ast.Module(body, []), "cell", "exec"), names)  # noqa: S102 - our own example
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307 - likewise


@pytest.mark.parametrize(("option", "dumps"), [("true", True), ("false", False)])
def test_the_slow_server_dumps_only_with_its_middleware(serve, go_servers, option, dumps):
    url, log = serve(go_servers / "slow", "-port", 0, f"-middleware={option}")
    with urllib.request.urlopen(url) as answer:  # noqa: S310
        assert answer.read() == b'{"status":"ok"}'
    assert ("[dump] GET /healthz" in log.read_text()) == dumps


def test_the_suite_of_a_framework_runs_and_its_findings_stand(tmp_path):
    junit = tmp_path / "suite.xml"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--junit-xml={junit}"]
    # Two rounds say nothing of a budget: how fast this machine is fails no build.
    arguments = ["--torr-budgets", "report", "--torr-rounds", "2", "--torr-save", "litefs"]
    ended = subprocess.run(
        [*command, *arguments, SUITE],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout
    assert outcomes(junit, "test_findings") == {
        "test_each_caller_gets_its_own_form": (
            "parse_form hands the dict in its cache to every caller"
        ),
        "test_a_delete_takes_its_own_keys": "delete compares by LIKE, to which _ is any character",
        "test_a_key_that_expired_can_be_put_again": (
            "a get that finds an expired key leaves its row behind"
        ),
    }
    found = json.loads((tmp_path / "_output/torr/latest/result.json").read_text())
    assert len({budget["candidate"] for budget in found["budgets"]}) == 20
    slow = [each for each in found["budgets"] if each["candidate"].endswith("tree_cache_delete")]
    assert {each["condition"]: each["value"] is not None for each in slow} == {
        "ops >2k/s": True,
        "p50 <0.5ms": True,
        "p99 <5ms": True,
    }
    assert [leak["word"] for leak in found["leaks"]].count("growth that ends") >= 2
    assert [(leak["limit"], leak["met"]) for leak in found["leaks"]] == [
        *((5_000, True), (15_000, True), (15_000, True), (None, True))
    ]


def outcomes(junit, module):
    """Why each test of a module failed as it was expected to; None where it did not."""
    cases = ET.parse(junit).getroot().iter("testcase")  # noqa: S314 - made right here
    return {
        case.get("name"): None if (why := case.find("skipped")) is None else why.get("message")
        for case in cases
        if case.get("classname").rpartition(".")[2] == module
    }


def test_an_example_fits_on_a_page():
    ours = (path for path in files() if path.name not in GENERATED and path.parent != SUITE)
    written = [path for path in ours if path != EXAMPLES / "README.md"]
    texts = {path: code_of(path) if path == NOTEBOOK else path.read_text() for path in written}
    assert texts
    assert {path for path, text in texts.items() if len(text.splitlines()) > MOST_LINES} == set()


def test_every_script_is_run_here_and_listed():
    scripts = [path.name for path in EXAMPLES.iterdir() if path.suffix in (".sh", ".py")]
    tests, readme = Path(__file__).read_text(), (EXAMPLES / "README.md").read_text()
    assert scripts
    for name in scripts:
        assert f'example("{name}"' in tests
        assert f"({name})" in readme
