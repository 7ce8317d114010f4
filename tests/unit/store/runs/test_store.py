"""What goes into a store, is found in it and comes out of it, on both databases."""

import json
import re
from datetime import datetime, timezone
from pathlib import Path

import pytest

import typed
from stored_runs import level, result, spoil, text
from torr.errors import ResultError, StoreError
from torr.results.result import decoded
from torr.store.runs import store as kept_store
from torr.store.runs.store import Filter


def ids(runs):
    return [run.id for run in runs]


def test_a_result_comes_out_whole_with_its_intervals(store):
    given = result("résumé ✓", level(), note="api 1.2 CPU", tags=["b", "a"])
    run_id = store.register(json.dumps(given).encode(), Path("/somewhere/api-1"))
    assert store.result(run_id) == typed.result(**{**given, "tags": ["a", "b"]})


def test_a_run_is_listed_with_its_best_level(store):
    levels = [level(10, 900, p95=2.0), level(50, 1500, p95=8.0), level(100, 1400)]
    run_id = store.register(text("api", *levels, kind="ladder", note="n", tags=["t"]), Path("/d"))
    run = store.run(run_id)
    assert (run.concurrency, run.rounds, run.ok_per_s, run.p95_ms) == (50, 1, 1500.0, 8.0)
    assert (run.success_rate, run.health) == (100.0, "healthy")
    assert (run.name, run.kind, run.status) == ("api", "ladder", "complete")
    assert (run.note, run.tags, run.directory, run.host) == ("n", ("t",), "/d", "vm")
    assert run.started == datetime(2026, 1, 31, 12, 1, tzinfo=timezone.utc)
    assert run.as_json()["ended"] == "2026-01-31T12:01:30.000Z"


def test_a_time_that_is_only_a_lower_bound_is_in_no_list(store):
    late = level(10, 900, p95=2.0)
    late["latency"]["response_ms"]["at_least"] = ["p95"]
    run = store.run(store.register(text("api", late), Path("/d")))
    assert (run.ok_per_s, run.p95_ms) == (900.0, None)


def test_a_limited_level_is_no_run_s_best(store):
    levels = [level(10, 900), level(50, 5000, health="generator-limited")]
    run = store.run(store.register(text("api", *levels)))
    assert (run.concurrency, run.health) == (10, "generator-limited")


def test_a_comparison_has_no_best_level(store):
    levels = [level(candidate="a"), level(candidate="b")]
    assert store.run(store.register(text("ab", *levels, kind="compare"))).ok_per_s is None


def test_the_newest_come_first_and_no_more_than_asked_for(store):
    first, second, third = (store.register(text(number=n)) for n in (1, 3, 2))
    assert ids(store.find()) == [second, third, first]
    assert ids(store.find(most=2)) == [second, third]


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        (Filter(name="api"), [3, 1]),
        (Filter(name="ap"), []),
        (Filter(tags=("main",)), [2, 1]),
        (Filter(tags=("main", "fast")), [2]),
        (Filter(tags=("ma%",)), []),
        (Filter(commit="aaaa"), [3]),
        (Filter(commit="AAAABB"), [3]),
        (Filter(commit="%"), []),
        (Filter(since=datetime(2026, 1, 31, 12, 2, tzinfo=timezone.utc)), [3, 2]),
        (Filter(kinds=("ladder", "run")), [3, 2, 1]),
        (Filter(kinds=("ladder",)), [2]),
        (Filter(name="api", tags=("main",)), [1]),
    ],
    ids=str,
)
def test_runs_are_found_by_what_is_known_of_them(store, wanted, numbers):
    store.register(text("api", number=1, tags=["main"]))
    store.register(text("web", number=2, tags=["main", "fast"], kind="ladder"))
    store.register(text("api", number=3, environment={"git": "aaaabbbb"}))
    assert [run.started.minute for run in store.find(wanted)] == numbers


def test_a_run_that_went_on_is_replaced_and_keeps_what_was_said_since(store):
    run_id = store.register(text(status="interrupted", tags=["old"]))
    store.annotate(run_id, add=["new"], note="half of it")
    assert store.register(text("api", level(speed=2000.0), tags=["old"])) == run_id
    run = store.run(run_id)
    assert (run.status, run.ok_per_s) == ("complete", 2000.0)
    assert (run.tags, run.note) == (("new", "old"), "half of it")
    assert store.result(run_id).levels[0].ok_per_s == 2000.0
    assert len(store.find()) == 1


def test_what_was_taken_away_stays_away_when_a_run_goes_on(store):
    run_id = store.register(text(status="interrupted", tags=["old", "kept"], note="first"))
    store.annotate(run_id, remove=["old"], note="")
    store.register(text(tags=["old", "kept"], note="first"))
    run = store.run(run_id)
    assert (run.status, run.tags, run.note) == ("complete", ("kept",), None)


def test_notes_and_tags_can_be_changed_later(store):
    run_id = store.register(text(tags=["a", "b"], note="first"))
    assert store.annotate(run_id, add=["c", "a"], remove=["b", "none"]).tags == ("a", "c")
    assert store.annotate(run_id).note == "first"
    assert store.annotate(run_id, note="second").note == "second"
    assert store.annotate(run_id, note="").note is None
    assert store.result(run_id).tags == ["a", "c"]


def test_removed_runs_are_gone_and_their_ids_are_not_given_again(store):
    first, second, third = (store.register(text(number=n, tags=["t"])) for n in (1, 2, 3))
    assert ids(store.remove([third, first])) == [third, first]
    assert ids(store.find()) == [second]
    assert store.register(text(number=4)) > third
    with pytest.raises(StoreError, match=f"there is no run {first} in "):
        store.result(first)


def test_all_are_removed_or_none(store):
    run_id = store.register(text())
    with pytest.raises(StoreError):
        store.remove([run_id, 99])
    assert ids(store.find()) == [run_id]


@pytest.mark.parametrize("call", ["run", "result", "annotate"])
def test_a_run_that_there_is_not_is_said(store, call):
    with pytest.raises(StoreError) as refused:
        getattr(store, call)(7)
    assert "there is no run 7" in str(refused.value)
    assert "torr runs list" in refused.value.hint


def test_what_is_no_result_is_not_kept(store):
    with pytest.raises(StoreError, match=r"this is not a result of torr: .*schema"):
        store.register(b'{"name": "api"}')
    assert store.find() == []


UNREADABLE = {
    "was made by a newer torr (its schema is 3, this torr reads 2)": {"schema": 3},
    "is not a result of torr: Expected `object`, got `array`": {"whole": []},
    "is not a result of torr: levels: Expected `array`, got `null`": {"levels": None},
    "is not a result of torr: levels[0].concurrency": {"levels": [level(users="x")]},
}


@pytest.mark.parametrize("said", UNREADABLE)
def test_a_result_that_cannot_be_read_says_why(store, said):
    run_id = store.register(text())
    spoil(store.url, run_id, **UNREADABLE[said])
    with pytest.raises(ResultError, match=re.escape(f"run {run_id} {said}")):
        store.result(run_id)


def test_what_is_kept_is_replaced_only_where_it_may_be_or_is_broken(store):
    run_id = store.register(text())
    slower = text("api", level(speed=2000.0))
    with pytest.raises(
        ResultError, match=f"already stored as run {run_id}, with different content"
    ):
        store.register(slower, may_replace=False)
    assert store.register(text(note="later"), may_replace=False) == run_id
    assert store.register(slower) == run_id
    spoil(store.url, run_id, whole="cut")
    assert store.register(slower, may_replace=False) == run_id
    assert store.result(run_id) == decoded(slower, "it")


def test_a_result_of_a_newer_torr_is_not_kept(store):
    with pytest.raises(ResultError, match="this was made by a newer torr") as refused:
        store.register(text(schema=3))
    assert refused.value.hint == "update torr"
    assert store.find() == []


def test_an_id_that_is_none_is_not_taken_for_one(store):
    run = store.run(store.register(text(id="../../etc/passwd")))
    assert len(run.uid) == 32
    assert run.uid.isalnum()
    assert store.register(text(id="../../etc/passwd")) == run.id


def test_a_result_with_a_value_that_is_not_possible_is_refused_by_its_place(store):
    impossible = level(latency={"service_ms": {"n": 1, "p50": "x"}})
    with pytest.raises(ResultError, match=r"this .*levels\[0\]\.latency\.service_ms\.p50"):
        store.register(text("api", impossible))
    assert store.find() == []


def test_what_others_wrote_into_a_shared_store_moves_no_terminal(store):
    run_id = store.register(text("a\x1b[2J", note="\x1b]0;n\x07", tags=["\x9b31m"]), Path("/d\x1b"))
    run = store.run(run_id)
    assert (run.name, run.note, run.tags) == (r"a\x1b[2J", r"\x1b]0;n\x07", (r"\x9b31m",))
    assert run.directory == r"/d\x1b"
    assert store.tags() == [r"\x9b31m"]
    assert (store.result(run_id).name, store.result(run_id).note) == (run.name, run.note)


def test_a_result_that_would_take_all_memory_is_refused(store, monkeypatch):
    run_id = store.register(text())
    monkeypatch.setattr(kept_store, "MOST_RESULT_BYTES", 100)
    with pytest.raises(ResultError, match=f"run {run_id} is broken"):
        store.result(run_id)
