"""`torr runs …`, on runs that are registered as results."""

from __future__ import annotations

import json
import math
import os
import shlex
import sqlite3
import stat
import webbrowser
from contextlib import closing
from pathlib import Path

import pytest

import typed
from page import Page
from stored_runs import level, result, spoil, text
from torr.cli.runs.group import VERBS as OF_RUNS
from torr.store.runs.database_url import DatabaseUrl
from torr.store.runs.store import open_store

LONG_NAME = "a-service-with-a-name-that-fills-half-of-a-terminal"
NOTES = ("api 0.8 CPU", "api 1.2 CPU", "api 2 CPU")


@pytest.fixture(autouse=True)
def store(own_store, monkeypatch, tmp_path):
    """A store of this test, with three runs of one name and one of another."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with open_store(create=True) as opened:
        for number, note in enumerate(NOTES, 1):
            levels = level(50, 20.0 * number)
            opened.register(text("api", levels, number=number, note=note, tags=[f"t{number}"]))
        opened.register(text("web", number=4, kind="ladder", environment={"git": "beef"}))
    return own_store


def test_the_newest_are_listed_first(torr, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    ended = torr("runs", "list")
    assert ended.code == 0
    header, *rows = ended.out.splitlines()
    assert header.split()[:4] == ["run", "when", "(local)", "name"]
    assert [row.split()[0] for row in rows] == ["4", "3", "2", "1"]
    assert all(len(row) <= 80 for row in rows)


@pytest.mark.parametrize("verb", [("list", "--name", LONG_NAME), ("ledger", LONG_NAME)], ids=str)
def test_a_table_in_a_pipe_has_all_columns_and_whole_texts(torr, verb):
    note = "a note of more than forty characters, which a list in a terminal shortens"
    with open_store(create=True) as opened:
        levels = level(50, 20.0)
        opened.register(text(LONG_NAME, levels, number=7, note=note, tags=["before", "after"]))
    header, row = torr("runs", *verb).out.splitlines()[-2:]
    assert note in row
    assert len(row) > 120
    assert "success" in header


@pytest.mark.parametrize(
    ("flags", "found"),
    [
        (["--name", "api", "--most", "2"], [3, 2]),
        (["--tag", "t2"], [2]),
        (["--commit", "beef"], [4]),
        (["--since", "2026-01-31T12:03:00+00:00"], [4, 3]),
        (["--since", "1h"], []),
        (["--tag", "t1", "--tag", "t2"], []),
    ],
    ids=str,
)
def test_lists_are_narrowed_down(torr, flags, found):
    ended = torr("runs", "list", "-o", "json", *flags)
    assert [run["id"] for run in json.loads(ended.out)] == found


def test_a_list_has_and_takes_the_time_of_the_terminal(torr, shanghai):  # noqa: ARG001 - a zone
    assert "2026-01-31 20:04  web" in torr("runs", "list").out
    found = json.loads(torr("runs", "list", "-o", "json", "--since", "2026-01-31T20:03").out)
    assert [run["id"] for run in found] == [4, 3]


def test_a_lower_bound_is_marked_as_one(torr):
    with open_store(create=True) as opened:
        opened.register(text("busy", level(50, 70.0, health="contended"), number=5))
    out = torr("runs", "list", "--most", "2").out
    assert "≥ 70 " in out
    assert out.count("≥") == 1


def test_an_empty_list_says_so(torr):
    assert torr("runs", "list", "--name", "none").out == "no run in the store matches\n"


def test_an_empty_store_is_named(torr, store):
    torr("runs", "rm", "1", "2", "3", "4")
    assert torr("runs", "list").out == f"there is no run in {store}\n"


READING = [
    *(["runs", verb, "1"] for verb in ("show", "open", "rm", "export")),
    *(["runs", "list"], ["runs", "tag", "1", "new"], ["runs", "ledger", "api"]),
    *(["diff", "1", "2"], ["serve", "--port", "0"]),
]


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_a_store_whose_path_is_mistyped_is_said_and_not_made(torr, monkeypatch, tmp_path, command):
    monkeypatch.setenv("TORR_STORE", f"sqlite:///{tmp_path}/mistyped/runs.db")
    ended = torr(*command)
    assert ended.code == 2
    assert f"there is no store at {tmp_path}/mistyped/runs.db" in ended.err
    assert "TORR_STORE" in ended.err
    assert not (tmp_path / "mistyped").exists()


@pytest.mark.parametrize("verb", ["show", "open", "rm", "export"])
def test_who_has_kept_no_run_yet_is_told_that_there_is_none(torr, monkeypatch, tmp_path, verb):
    monkeypatch.delenv("TORR_STORE")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    place = tmp_path / "data" / "torr" / "runs.db"
    assert torr("runs", "list").out == f"there is no run in {place}\n"
    ended = torr("runs", verb, "1")
    assert (ended.code, "there is no run 1" in ended.err) == (2, True)
    assert not (tmp_path / "data").exists()


def test_an_import_makes_the_store(torr, monkeypatch, tmp_path):
    monkeypatch.setenv("TORR_STORE", f"sqlite:///{tmp_path}/new/runs.db")
    (tmp_path / "result.json").write_bytes(text("api", number=9))
    assert torr("runs", "import", str(tmp_path / "result.json")).code == 0
    assert torr("runs", "list").out.splitlines()[1].split()[0] == "1"


def test_the_run_of_a_killed_torr_is_judged_when_it_is_imported(torr, monkeypatch, tmp_path):
    monkeypatch.setenv("TORR_STORE", f"sqlite:///{tmp_path}/new/runs.db")
    killed = text("api", status="interrupted", experiment={"slos": ["p95 < 5ms", "p99 < 5ms"]})
    (tmp_path / "result.json").write_bytes(killed)
    torr("runs", "import", str(tmp_path / "result.json"))
    verdicts = json.loads(torr("runs", "show", "1", "-o", "json").out)["verdicts"]
    assert [(one["condition"], one["word"]) for one in verdicts] == [
        ("p95 < 5ms", "held"),
        ("p99 < 5ms", "broken"),
    ]


@pytest.mark.parametrize("when", ["yesterday", "7", "2026-13-01", "-1h"])
def test_a_time_that_is_none_is_refused_with_examples(torr, when):
    ended = torr("runs", "list", f"--since={when}")
    assert ended.code == 2
    assert "2026-01-31" in ended.err


def test_a_run_says_again_what_it_said(torr, fake):  # noqa: ARG001 - the engine
    said = torr("run", "--note", "n", "http://127.0.0.1:9/x").out
    ended = torr("runs", "show", "5")
    assert ended.code == 0
    assert ended.out.splitlines()[:10] == said.splitlines()[:10]
    assert "stored  as run 5: apiserver, run, complete\nnote    n\n" in ended.out


def test_a_run_is_shown_as_json_whole(torr):
    shown = json.loads(torr("runs", "show", "-o", "json", "1").out)
    given = result("api", level(50, 20.0), number=1, note=NOTES[0], tags=["t1"])
    assert typed.result(**shown) == typed.result(**given)


@pytest.mark.parametrize("verb", ["show", "open", "rm", "export"])
def test_a_run_that_there_is_not_is_said(torr, verb):
    ended = torr("runs", verb, "99")
    assert ended.code == 2
    assert "there is no run 99" in ended.err


BROKEN = {
    "run 1 was made by a newer torr (its schema is 3, this torr reads 2)": {"schema": 3},
    "run 1 is not a result of torr: levels[0]: Object missing required field `concurrency`": {
        "levels": [{"round": 1}]
    },
    "run 1 is not as torr writes it: ": {
        "kind": "diff",
        "verdicts": [{"metric": "response_ms.p95"}],
    },
}


@pytest.mark.parametrize("said", BROKEN)
@pytest.mark.parametrize("verb", ["show", "open", "export"])
def test_a_broken_run_is_said_and_no_traceback(torr, store, verb, said):
    spoil(DatabaseUrl(f"sqlite:///{store}"), 1, **BROKEN[said])
    ended = torr("runs", verb, "1")
    assert ended.code == 2
    assert said in ended.err


def test_broken_runs_keep_no_others_from_being_exported(torr, store, tmp_path):
    with closing(sqlite3.connect(store)) as base, base:
        base.execute("UPDATE results SET json_zlib = ? WHERE run_id = 2", (b"no zlib",))
    spoil(DatabaseUrl(f"sqlite:///{store}"), 1, levels=[{"round": 1}])
    ended = torr("runs", "export", "1", "2", "3", "-d", "out")
    assert ended.code == 2
    assert ended.out.startswith("run 3  ")
    assert (tmp_path / "out" / "api-20260131-120300-3" / "report.html").exists()
    assert "run 1 is not a result of torr: levels[0]" in ended.err
    assert f"run 2 is broken in {store}" in ended.err


def test_a_run_that_is_there_already_keeps_no_others_from_being_exported(torr):
    torr("runs", "export", "1", "-d", "out")
    ended = torr("runs", "export", "1", "2", "-d", "out")
    assert ended.code == 2
    assert ended.out.startswith("run 2  ")
    assert "api-20260131-120100-1: cannot be written: File exists" in ended.err


def test_a_run_that_is_not_kept_keeps_no_others_from_being_exported(torr):
    ended = torr("runs", "export", "99", "2", "-d", "out")
    assert ended.code == 2
    assert ended.out.startswith("run 2  ")
    assert "no run 99" in ended.err


def test_tags_and_notes_are_given_and_taken(torr):
    assert torr("runs", "tag", "1", "main", "--remove", "t1", "--note", "new").out == (
        "run 1: tags main; note new\n"
    )
    assert torr("runs", "tag", "1", "--remove", "main", "--note", "").out == (
        "run 1: tags –; note –\n"
    )


def test_saying_nothing_of_a_run_is_refused(torr):
    assert "neither a tag nor a note is given" in torr("runs", "tag", "1").err


def test_removed_runs_are_gone(torr):
    ended = torr("runs", "rm", "1", "3")
    assert ended.out == "removed run 1: api\nremoved run 3: api\n"
    assert [run["id"] for run in json.loads(torr("runs", "list", "-o", "json").out)] == [4, 2]


def test_an_exported_run_is_a_directory_as_it_was(torr, tmp_path):
    ended = torr("runs", "export", "1", "-d", "out")
    place = tmp_path / "out" / "api-20260131-120100-1"
    assert ended.out == f"run 1  {place.relative_to(tmp_path)}\n"
    written = json.loads((place / "result.json").read_text())
    given = result("api", level(50, 20.0), number=1, note=NOTES[0], tags=["t1"])
    assert typed.result(**written) == typed.result(**given)
    assert {"report.html", "summary.md", "levels.csv"} <= {path.name for path in place.iterdir()}
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (place, *place.iterdir())}
    assert set(modes.values()) == {0o700, 0o600}
    assert modes["result.json"] == 0o600
    assert "cannot be written" in torr("runs", "export", "1", "-d", "out").err


def test_a_name_that_leads_elsewhere_is_not_followed(torr, tmp_path):
    with open_store(create=True) as opened:
        run_id = opened.register(text("../../evil", number=9))
    ended = torr("runs", "export", str(run_id), "-d", "out")
    assert ended.code == 2
    assert not list(tmp_path.parent.glob("evil*"))


def test_the_page_of_a_run_is_opened_from_the_store(torr, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(webbrowser, "open", lambda url: bool(seen.append(url)) or True)
    ended = torr("runs", "open", "1")
    (url,) = seen
    page = Path(url.removeprefix("file://"))
    assert ended.out == f"page    {page}\n"
    assert page.is_relative_to(tmp_path / "cache")
    assert Page(page.read_text()).data["run"]["result"]["note"] == NOTES[0]


def test_the_ledger_is_the_session_in_order(torr, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    ended = torr("runs", "ledger", "api")
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert lines[0] == (
        "3 runs of api: run 3 (api 2 CPU) is the best, 60 ok/s, 3.00 × the first (one run each)."
    )
    assert [line.split()[0] for line in lines[3:]] == ["1", "2", "3"]
    assert lines[4].count("2.00 × one run each") == 2
    assert all(len(line) <= 80 for line in lines[2:])


def test_the_ledger_is_json_markdown_and_csv(torr):
    found = json.loads(torr("runs", "ledger", "api", "-o", "json").out)
    assert [entry["note"] for entry in found["entries"]] == list(NOTES)
    assert found["entries"][1]["before"]["ratio"] == 2.0
    assert torr("runs", "ledger", "api", "-o", "markdown").out.startswith("**3 runs of api")
    assert torr("runs", "ledger", "api", "-o", "csv").out.startswith("run,concurrency,")


def test_a_ledger_is_narrowed_down(torr):
    ended = torr("runs", "ledger", "api", "--tag", "t2", "-o", "json")
    assert [entry["run"] for entry in json.loads(ended.out)["entries"]] == [2]
    assert "no run of 'none' in the store matches" in torr("runs", "ledger", "none").err
    for flag, word in (("--at", "7"), ("--request", "none")):
        refused = torr("runs", "ledger", "api", flag, word)
        assert refused.code == 2
        assert f"{flag} {word}: no run of 'api' has this" in refused.err
    assert "hint: choose one of 50" in torr("runs", "ledger", "api", "--at", "7").err


def test_a_ledger_is_shown_at_a_fractional_rate(torr):
    with open_store(create=True) as opened:
        rates = [level(5, rate, rate=rate) for rate in (12.5, 1200.0)]
        opened.register(text("rates", *rates, number=5))
    for at, rate in (("12.5", 12.5), ("1.2k", 1200)):
        ended = torr("runs", "ledger", "rates", "--at", at, "-o", "json")
        assert [entry["rate"] for entry in json.loads(ended.out)["entries"]] == [rate]
    refused = torr("runs", "ledger", "rates", "--at", "20")
    assert "hint: choose one of 12.5, 1,200" in refused.err


def test_a_ledger_is_set_beside_a_baseline(torr, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    ended = torr("runs", "ledger", "api", "--baseline", "t1")
    assert ended.out.splitlines()[0] == (
        f"The newest of api, run 3 ({NOTES[2]}), has 60 ok/s, 3.00 × the baseline's,"
        f" run 1 ({NOTES[0]}): one run each."
    )
    assert "to the baseline" in ended.out
    assert all(len(line) <= 80 for line in ended.out.splitlines()[2:])
    found = json.loads(torr("runs", "ledger", "api", "--baseline", "t1", "-o", "json").out)
    assert [entry["baseline"] and entry["baseline"]["ratio"] for entry in found["entries"]] == [
        *(None, 2.0, 3.0)
    ]
    refused = torr("runs", "ledger", "api", "--baseline", "none")
    assert refused.code == 2
    assert "no run of 'api' in the store has this tag" in refused.err


def test_a_ledger_says_what_its_baseline_lacks(torr):
    with open_store(create=True) as opened:
        opened.register(text("api", level(50), level(70, 90.0), number=5))
    ended = torr("runs", "ledger", "api", "--baseline", "t1", "--at", "70")
    assert ended.code == 0
    assert ended.out.splitlines()[0] == (
        "The newest of api, run 5, has 90 ok/s; the baseline, run 1 (api 0.8 CPU), claims nothing"
        " there: it has no level 70."
    )


def test_a_file_of_pytest_benchmark_is_kept_once(torr, tmp_path):
    stats = {"min": 1, "max": 1, "mean": 1, "stddev": 0, "median": 1, "q3": 1, "rounds": 5}
    of = {"name": "test_it", "fullname": "t.py::test_it", "stats": stats}
    whole = {"benchmarks": [of], "datetime": "2026-01-31T12:00:00"}
    (tmp_path / "old.json").write_text(json.dumps(whole))
    assert torr("runs", "import", "old.json", "-n", "cache").out == "run 5  old.json  (new)\n"
    assert torr("runs", "import", "old.json", "-n", "cache").out == "run 5  old.json  (unchanged)\n"
    (kept,) = json.loads(torr("runs", "list", "-n", "cache", "-o", "json").out)
    assert (kept["kind"], kept["status"]) == ("micro", "complete")
    assert "1 function measured." in torr("runs", "show", "5").out


def test_a_run_that_was_not_registered_is_imported_later(torr, fake, monkeypatch):  # noqa: ARG001 - the engine
    store = os.environ["TORR_STORE"]
    monkeypatch.setenv("TORR_STORE", "mysql://nowhere/kept")
    told = torr("run", "-n", "late", "--tag", "t", "http://127.0.0.1:9/x").err.splitlines()[-1]
    assert told.startswith("add it with: torr runs import _output/torr/late-")
    monkeypatch.setenv("TORR_STORE", store)
    command = shlex.split(told.removeprefix("add it with: torr "))
    assert torr(*command).out == f"run 5  {command[-1]}  (new)\n"
    assert torr("runs", "import", f"{command[-1]}/result.json").out.startswith("run 5  ")
    (kept,) = json.loads(torr("runs", "list", "-n", "late", "-o", "json").out)
    assert (kept["kind"], kept["tags"]) == ("run", ["t"])
    assert kept["directory"] == str(Path(command[-1]).resolve())


NO_RESULTS = {
    "there is none": (None, "result.json cannot be read: No such file"),
    "no JSON": ("x", "result.json is not a result of torr: not JSON: Expecting value"),
    "another tool's": ('{"levels": []}', "result.json is not a result of torr: Object missing"),
    "a newer torr's": ('{"schema": 3}', "result.json was made by a newer torr"),
    "another schema": ('{"schema": 0}', "result.json is not a result of torr: schema: "),
}


@pytest.mark.parametrize("name", NO_RESULTS)
def test_what_is_no_result_is_not_imported(torr, tmp_path, name):
    content, said = NO_RESULTS[name]
    folder = tmp_path / "run"
    folder.mkdir()
    if content is not None:
        (folder / "result.json").write_text(content)
    ended = torr("runs", "import", "run")
    assert ended.code == 2
    assert said in ended.err


def exported(torr, tmp_path):
    """Return the result.json of run 1, exported."""
    torr("runs", "export", "1", "-d", "out")
    (path,) = (tmp_path / "out").glob("*/result.json")
    return path


DEEP = json.loads("[" * 150 + "]" * 150)
IMPOSSIBLE = {
    "a year that no list can show": ("started", "9999-12-31T23:59:59Z", "started: "),
    "no moment": ("started", "yesterday", "started: "),
    "a number beyond any machine": ("concurrency", 10**30, "levels[0].concurrency: "),
    "infinity": ("ok_per_s", math.inf, "Infinity is not a number of JSON"),
    "a number beyond floats": ("ok_per_s", 1.5, "levels[0].ok_per_s: Number out of range"),
    "more than all": ("success_rate", 100.5, "levels[0].success_rate: "),
    "fewer than none": ("ok_per_s", -1.0, "levels[0].ok_per_s: "),
    "text for a number": ("concurrency", "many", "levels[0].concurrency: "),
    "what is nested too deeply": (
        "plan",
        {"a": DEEP},
        "nested more than",
    ),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_a_result_with_impossible_values_is_refused_with_file_and_key(torr, tmp_path, name):
    key, value, said = IMPOSSIBLE[name]
    path = exported(torr, tmp_path)
    result = json.loads(path.read_text())
    of = result if key in {"started", "plan"} else result["levels"][0]
    of[key] = value
    whole = json.dumps(result)
    path.write_text(whole.replace("1.5", "1.5e999") if name.endswith("floats") else whole)
    ended = torr("runs", "import", str(path.parent))
    assert ended.code == 2
    assert f"{path.parent}/result.json" in ended.err
    assert said in ended.err
    assert "Traceback" not in ended.err
    assert torr("runs", "list").code == 0


def test_an_import_replaces_no_other_run_unless_it_is_asked_to(torr, tmp_path):
    path = exported(torr, tmp_path)
    assert torr("runs", "import", str(path)).out == f"run 1  {path}  (unchanged)\n"
    result = json.loads(path.read_text())
    result["levels"][0]["ok_per_s"] = 7.0
    path.write_text(json.dumps(result))
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**result, "id": 32 * "a"}))
    refused = torr("runs", "import", str(path), str(other))
    assert refused.code == 2
    # What can be stored is stored.
    assert refused.out.endswith(f"  {other}  (new)\n")
    assert (
        f"{path}: it is already stored as run 1, with different content\nhint: add --replace"
        in refused.err
    )
    assert json.loads(torr("runs", "show", "1", "-o", "json").out)["levels"][0]["ok_per_s"] != 7.0
    assert torr("runs", "import", "--replace", str(path)).out == f"run 1  {path}  (replaced)\n"
    assert json.loads(torr("runs", "show", "1", "-o", "json").out)["levels"][0]["ok_per_s"] == 7.0


def test_secrets_and_control_characters_of_an_imported_file_are_not_kept(torr, tmp_path):
    path = exported(torr, tmp_path)
    result = json.loads(path.read_text())
    result |= {"id": None, "name": "foreign", "note": "\x1b[2Jpassword=hush-hush"}
    path.write_text(json.dumps(result))
    run_id = torr("runs", "import", str(path)).out.split()[1]
    kept = torr("runs", "show", run_id, "-o", "json").out
    assert "hush-hush" not in kept
    assert json.loads(kept)["note"] == "\\x1b[2Jpassword=***"


def test_a_run_that_is_imported_has_its_name(torr):
    torr("runs", "export", "1", "-d", "out")
    ended = torr("runs", "import", "out/api-20260131-120100-1", "-n", "other")
    assert ended.code == 2
    assert "is a run, which has a name already" in ended.err


@pytest.mark.parametrize("verb", OF_RUNS)
def test_the_help_of_a_verb_fits_a_screen(torr, verb):
    lines = torr("runs", verb, "--help").out.splitlines()
    assert len(lines) <= 40
    assert all(len(line) <= 80 for line in lines)
