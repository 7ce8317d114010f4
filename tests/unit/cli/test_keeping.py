"""Every verb that measures registers its run, with its note and tags; none fails by its store."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

import typed
from doubles import Truth, press_at
from torr.errors import OutputError
from torr.store.runs.registration import Registration
from torr.store.runs.store import Store, open_store

URL = "http://127.0.0.1:9/x"


@pytest.fixture(autouse=True)
def _own(own_store, fake):
    return own_store, fake


def kept():
    with open_store(create=True) as store:
        return store.find()


def result_of(run_id):
    with open_store(create=True) as store:
        return store.result(run_id)


@pytest.mark.parametrize("verb", [["run"], ["ladder", "--levels", "10,20"]])
def test_a_run_is_registered_with_what_is_said_on_it(torr, tmp_path, verb):
    ended = torr(*verb, "--note", "api 1.2 CPU", "--tag", "b", "--tag", "a", "--tag", "b", URL)
    assert ended.code == 0
    (run,) = kept()
    assert ended.out.endswith(f"stored  as run {run.id}\n")
    assert (run.kind, run.note, run.tags) == (verb[0], "api 1.2 CPU", ("a", "b"))
    (path,) = (tmp_path / "_output/torr").glob("apiserver-*/result.json")
    written = json.loads(path.read_text())
    assert written["tags"] == ["b", "a"]
    assert result_of(run.id) == typed.result(**{**written, "tags": ["a", "b"]})
    assert run.directory == str(path.parent)


def test_a_run_may_be_kept_out_of_the_store(torr, own_store):
    ended = torr("run", "--no-store", URL)
    assert ended.code == 0
    assert "stored" not in ended.out
    assert not own_store.exists()


def test_the_environment_may_say_that_no_run_is_registered(torr, monkeypatch):
    monkeypatch.setenv("TORR_STORE", "none")
    ended = torr("run", URL)
    assert (ended.code, ended.err) == (0, "")
    assert "report" in ended.out
    assert "stored" not in ended.out


BROKEN = {
    "a broken file": "not a store of torr, or it is broken",
    "no database": "TORR_STORE names no database that torr can use",
    "no server": "cannot be used",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_store_that_cannot_be_used_costs_nobody_the_run(torr, monkeypatch, tmp_path, name):
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"no database " * 1000)
    urls = {
        "a broken file": f"sqlite:///{broken}",
        "no database": "mysql://db/kept",
        "no server": "postgresql+psycopg://127.0.0.1:9/kept",
    }
    monkeypatch.setenv("TORR_STORE", urls[name])
    ended = torr("run", "-o", "json", URL)
    assert ended.code == 0
    assert json.loads(ended.out)["status"] == "complete"
    assert ended.err.startswith("note: this run is not in the store: ")
    assert BROKEN[name] in ended.err
    assert "postgresql+psycopg://host/database" in ended.err
    assert broken.read_bytes() == b"no database " * 1000


@pytest.mark.parametrize("flags", [(), ("-o", "json")], ids=["text", "json"])
@pytest.mark.parametrize("of", [("run", URL), ("diff", *["_output/torr/latest"] * 2)])
def test_files_come_before_the_store_and_both_before_anything_is_printed(
    torr, monkeypatch, capsys, of, flags
):
    events = []

    def register(directory, *_more, **_options):
        events.append((capsys.readouterr().out, sorted(path.name for path in directory.iterdir())))
        return Registration()

    torr("run", "--no-store", URL)
    monkeypatch.setattr("torr.finishing.pipeline.register", register)
    ended = torr(*of, "--junit", "junit.xml", *flags)
    ((printed, files),) = events
    assert printed == ""
    assert {"report.html", "result.json", "summary.md"} <= set(files)
    assert Path("junit.xml").exists()
    assert "ok/s" in ended.out or json.loads(ended.out)["status"] == "complete"


def full_disk(*_result, **_more):
    raise OutputError("no space is left for pictures")


@pytest.mark.parametrize("verb", ["run", "compare", "diff"])
def test_pictures_that_cannot_be_written_cost_no_junit_file(
    torr, compare, monkeypatch, tmp_path, verb
):
    torr("run", "--no-store", URL)
    monkeypatch.setattr("torr.report.write_all", full_disk)
    junit = ("--junit", "junit.xml")
    if verb == "compare":
        ended = compare(lambda _name: Truth(), 'slo = ["p95 < 1s"]\n', *junit)
    else:
        ended = torr(verb, *junit, *{"run": [URL], "diff": ["_output/torr/latest"] * 2}[verb])
    assert (ended.code, ended.out) == (2, "")
    assert "no space is left for pictures" in ended.err
    assert "<testsuite " in (tmp_path / "junit.xml").read_text()


def test_a_run_is_registered_though_nobody_hears_what_it_says(torr, monkeypatch):
    def gone(*_result, **_more):
        raise OutputError("nobody listens")

    monkeypatch.setattr("torr.cli.terminal.show", gone)
    assert torr("run", URL).code == 2
    assert [run.status for run in kept()] == ["complete"]


@pytest.mark.parametrize("verb", ["run", "diff"])
def test_an_argument_that_is_no_utf_8_costs_no_report(torr, tmp_path, verb):
    folder = os.fsdecode(b"o\xff")
    torr("run", URL)
    of = ["_output/torr/latest"] * 2 if verb == "diff" else [URL]
    ended = torr(verb, "-d", folder, *of)
    assert (ended.code, ended.err) == (0, "")
    (report,) = (tmp_path / folder).glob("*-*/report.html")
    assert "-d 'o\ufffd'" in report.read_text()
    assert "o\ufffd/" in ended.out
    newest = kept()[0]
    assert newest.kind == verb
    assert newest.directory == str(report.parent).replace(folder, "o\ufffd")


def test_whatever_a_store_raises_costs_nobody_the_run(torr, monkeypatch):
    def broken(_place):
        raise ZeroDivisionError("by a driver")

    monkeypatch.setattr("torr.store.runs.store.Store.open", broken)
    ended = torr("run", URL)
    assert ended.code == 0
    assert ended.err.startswith(
        "note: this run is not in the store: ZeroDivisionError: by a driver\nadd it with: torr runs"
    )


def test_a_run_that_got_no_answer_is_registered_as_failed(torr, fake):
    fake.curve = lambda _users: Truth(0, failure="no byte of a response came in the whole level")
    assert torr("run", URL).code == 3
    (run,) = kept()
    assert run.status == "failed"


@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupted_run_is_registered(torr, fake, times):
    fake.on_interval = press_at(2, times=times)
    assert torr("run", "--tag", "half", URL).code == 130
    (run,) = kept()
    assert (run.status, run.tags) == ("interrupted", ("half",))


def test_a_plan_file_may_say_note_and_tags(torr, tmp_path):
    lines = ['note = "of the file"', 'tag = ["nightly", "main"]', f'url = "{URL}"']
    (tmp_path / "plan.toml").write_text(
        "\n".join([*lines, "[[requests]]", 'name = "x"', 'url = "/x"'])
    )
    assert torr("run", "plan.toml").code == 0
    (run,) = kept()
    assert (run.note, run.tags) == ("of the file", ("main", "nightly"))
    assert torr("run", "--note", "typed", "plan.toml").code == 0
    assert kept()[0].note == "typed"


def test_a_diff_is_registered_too(torr):
    for _ in range(2):
        torr("run", "--no-store", URL)
    ended = torr("run", URL)
    assert ended.code == 0
    (run,) = kept()
    assert torr("diff", "--note", "why", str(run.id), "_output/torr/latest").code == 0
    newest = kept()[0]
    assert (newest.kind, newest.note) == ("diff", "why")


@pytest.mark.parametrize("word", [["--tag", "two words"], ["--tag", ""]])
def test_a_tag_that_is_none_is_refused_before_the_load(torr, fake, word):
    ended = torr("run", *word, URL)
    assert ended.code == 2
    assert "--tag" in ended.err
    assert fake.loads == []


def test_what_a_driver_says_of_a_store_keeps_no_password_and_moves_no_terminal(torr, monkeypatch):
    def broken(_place):
        raise RuntimeError("no such host in postgresql://ann:hush-hush@db/torr \x1b[2J")

    monkeypatch.setattr(Store, "open", broken)
    ended = torr("run", URL)
    assert ended.code == 0
    assert r"RuntimeError: no such host in postgresql://***@db/torr \x1b[2J" in ended.err
    assert "hush" not in ended.err


def test_a_comparison_whose_directory_is_removed_prints_what_was_measured(compare, tmp_path):
    def removed_at_the_second(name):
        if name == "two":
            shutil.rmtree(tmp_path / "_output")
        return Truth()

    ended = compare(removed_at_the_second, "")
    assert ended.code == 2
    assert "Traceback" not in ended.err
    assert ": the directory was removed before the run ended\nhint: run it again" in ended.err
    assert "two" in ended.out
