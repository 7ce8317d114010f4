"""Results read back: types, words, tables, and what a notebook shows."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

import torr
from documents import ROOT
from doubles import Truth
from torr.cli.main import main
from torr.errors import UsageError

KEPT = ROOT / "docs/studies/ladder"


@pytest.fixture
def ladder(tmp_path):
    """A kept ladder, in a directory of its own."""
    shutil.copy(KEPT / "quiet/result.json", tmp_path)
    return torr.load(tmp_path)


@pytest.fixture
def run(fake):  # noqa: ARG001 - it stands behind the call
    return torr.run("http://127.0.0.1:9/", slo="p95 < 500ms")


def test_a_directory_its_file_and_latest_give_the_same(run):
    for path in (run.directory, str(run.directory), run.directory / "result.json"):
        assert torr.load(path) == run
    latest = torr.load("_output/torr/latest")
    assert latest.directory == run.directory


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"result.json cannot be read: No such file"):
        torr.load(tmp_path)
    (tmp_path / "result.json").write_text('{"schema": 2}')
    with pytest.raises(UsageError, match=r"is not a result of torr: .* field `torr`"):
        torr.load(tmp_path)


def test_a_killed_ladder_is_judged_by_the_levels_that_it_finished(ladder, tmp_path):
    raw = json.loads((KEPT / "quiet/result.json").read_text())
    unjudged = {"status": "interrupted", "capacity": None, "verdicts": []}
    (tmp_path / "result.json").write_text(json.dumps({**raw, **unjudged}))
    killed = torr.load(tmp_path)
    assert (killed.status, killed.capacity) == ("interrupted", ladder.capacity)
    words = [(verdict.condition, verdict.position, verdict.word) for verdict in ladder.verdicts]
    assert [(v.condition, v.position, v.word) for v in killed.verdicts] == words


def test_a_ladder_says_its_words_and_claims(ladder):
    raw = json.loads((KEPT / "quiet/result.json").read_text())
    assert str(ladder).startswith(ladder.verdict)
    assert ladder.trust in str(ladder)
    assert repr(ladder).startswith("<torr.Result ladder 'quiet', complete: ")
    assert ladder.peak.ok_per_s == raw["capacity"]["peak"]["ok_per_s"]
    assert ladder.knee is None
    assert raw["capacity"]["knee"] is None
    verdicts = [level["health"]["verdict"] for level in raw["levels"]]
    assert ladder.health == next(
        word for word in ("generator-limited", "contended", "healthy") if word in verdicts
    )
    first = ladder.levels[0]
    assert first.latency.service.p99 == raw["levels"][0]["latency"]["service_ms"]["p99"]


def test_a_ladder_has_no_level_and_tells_hasattr_so(ladder, run):
    assert hasattr(run, "level")
    assert not hasattr(ladder, "level")
    assert not hasattr(ladder, "latency")
    with pytest.raises(UsageError, match=r"levels, not one\nhint: choose one: result\.levels\[0\]"):
        _ = ladder.level


def test_a_run_has_no_capacity(run):
    assert (run.peak, run.knee, run.under_slo) == (None, None, None)


def test_a_result_outlives_its_directory(run):
    shutil.rmtree(run.directory)
    assert run.verdict.startswith("Holds p95")
    assert run.passed
    assert "<iframe" in run._repr_html_()


def test_a_run_without_a_success_does_not_pass(fake):
    fake.curve = lambda _users: Truth(ok_per_s=0, errors={"status": 50})
    assert not torr.run("http://127.0.0.1:9/").passed


def test_a_table_has_a_row_a_level(ladder):
    table = ladder.to_pandas()
    assert list(table["concurrency"]) == [level.concurrency for level in ladder.levels]
    p99 = [level.latency.service.p99 for level in ladder.levels]
    assert table["latency.service_ms.p99"].dropna().tolist() == [x for x in p99 if x is not None]


def test_a_table_of_a_diff_has_a_row_a_level_of_each_side(tmp_path, monkeypatch):
    for name in ("quiet", "logging"):
        shutil.copy(KEPT / name / f"{name}.dat", tmp_path)
    monkeypatch.setattr(sys, "argv", ["torr"])
    with pytest.raises(SystemExit):
        main(["diff", "-q", "quiet.dat", "logging.dat"])
    [folder] = Path("_output/torr").glob("quiet_logging-*")
    diff = torr.load(folder)
    assert diff.verdict.startswith("logging answers")
    assert set(diff.to_pandas()["series"]) == {"quiet", "logging"}
    assert diff.verdict in diff._repr_html_()


def test_a_table_has_a_row_an_interval(run):
    table = run.to_pandas("intervals")
    assert table["t_s"].tolist() == [-1.0, 0.0, 1.0, 2.0, 3.0]
    assert table["phase"].tolist() == ["warmup"] + ["measure"] * 4
    assert set(table["concurrency"]) == {50}
    assert "latency.response_ms.p95" in table


def test_the_columns_of_a_table_are_those_of_levels_csv(run):
    run.report()
    header = (run.directory / "levels.csv").read_text().partition("\n")[0]
    assert list(run.to_pandas().columns) == header.split(",")


def test_rows_that_no_table_has_are_refused(run):
    with pytest.raises(
        UsageError, match=r"no rows are named 'level'\nhint: write levels or intervals"
    ):
        run.to_pandas("level")


def test_without_pandas_the_extra_is_named(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match=r"to_pandas needs pandas.*\n.*'torr\[pandas\]'"):
        run.to_pandas()
