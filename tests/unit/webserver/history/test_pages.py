"""What each page over stored runs is given."""

from __future__ import annotations

import pytest

from stored_runs import level
from torr import engine

SESSION = (("api 0.8 CPU", 21.5), ("api 1.2 CPU", 30.8), ("DB on SSD", 28.0))


@pytest.fixture
def session(pages):
    """Three runs of a name, of which the first is the baseline; their ids."""
    return [
        pages.keep(level(50, rate), number=n, note=note, tags=["baseline"] if n == 1 else [])
        for n, (note, rate) in enumerate(SESSION, 1)
    ]


def test_the_list_has_the_newest_first_and_what_narrows_it_down(pages, session):
    web = pages.keep(name="web", number=9, tags=["main"])
    found = pages.stored("/")
    assert [run["id"] for run in found["runs"]] == [web, *reversed(session)]
    assert (found["names"], found["tags"]) == (["api", "web"], ["baseline", "main"])
    assert found["more"] is False


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("name=api", [3, 2, 1]),
        ("name=ap", []),
        ("tag=baseline", [1]),
        ("tag=baseline&tag=other", []),
        ("commit=0123", [3, 2, 1]),
        ("commit=f", []),
        ("since=2026-01-31T12:02:00Z", [3, 2]),
        ("name=+&tag=&since=", [3, 2, 1]),
    ],
)
def test_the_list_is_narrowed_down(pages, session, query, numbers):
    found = pages.stored(f"/?{query}")["runs"]
    assert [run["id"] for run in found] == [session[number - 1] for number in numbers]


@pytest.mark.parametrize(("since", "count"), [("2026-01-31", 3), ("2026-01-31T12:03", 1)])
@pytest.mark.usefixtures("session", "shanghai")
def test_the_finder_means_utc_as_its_column_does(pages, since, count):
    # The evening before in UTC, the same day in Shanghai.
    pages.keep(number=9, started="2026-01-30T17:00:00.000Z")
    assert len(pages.stored(f"/?since={since}")["runs"]) == count


def test_a_long_list_is_cut_and_says_so(pages, session, monkeypatch):
    monkeypatch.setattr("torr.webserver.history.pages.MOST_LISTED", 2)
    found = pages.stored("/")
    assert [run["id"] for run in found["runs"]] == [session[2], session[1]]
    assert found["more"] is True


def test_a_run_has_its_report(pages, session):
    data = pages.data(f"/runs/{session[1]}")
    assert data["run"]["result"]["note"] == "api 1.2 CPU"
    assert data["stored"] == {"page": "run", "id": session[1], "name": "api"}


def test_two_runs_are_overlaid_as_a_diff(pages, session):
    first, second, _ = session
    data = pages.data(f"/overlay?a={first}&b={second}")
    sides = [each["name"] for each in data["run"]["view"]["diff"]["sides"]]
    assert sides == [f"api (run {first})", f"api (run {second})"]
    change = data["run"]["view"]["diff"]["changes"][0]
    assert round(change["ratio"], 2) == 1.43
    with_itself = pages.stored(f"/overlay?a={first}&b={first}", 200)
    assert with_itself["page"] == "overlay"


def test_how_times_of_both_are_spread_is_overlaid_at_common_levels(pages):
    histogram = engine.statistics([10**6 * n for n in range(1, 101)])[1]
    known = {"histograms": {"response": histogram}}
    a = pages.keep(level(10, 90, **known), level(50, 90, **known), number=1)
    b = pages.keep(level(50, 95, **known), number=2)
    curves = pages.data(f"/overlay?a={a}&b={b}")["run"]["view"]["distributions"]
    assert [(curve["candidate"], curve["level"], curve["n"]) for curve in curves] == [
        (f"api (run {a})", 50, 100),
        (f"api (run {b})", 50, 100),
    ]


def test_profiles_of_both_are_set_beside_each_other(pages):
    taken = {"tool": "perf", "concurrency": 50, "seconds": 10, "ok_per_s": 9.0, "unit": "samples"}
    taken |= {"cost_rate": None, "failure": None, "hint": None}
    a, b = (
        pages.keep(number=number, profiles=[{**taken, "folded": folded}])
        for number, folded in ((1, "serve 90\n"), (2, "serve 30\nlog 60\n"))
    )
    shown = pages.data(f"/overlay?a={a}&b={b}")["run"]["view"]
    assert [each["beside"] for each in shown["flames"]] == [None, f"api (run {a})"]
    assert [each["was"] for each in shown["flames"][1]["tree"]["below"]] == [0, 1]
    assert shown["tables"][-1]["rows"][0][0] == "log"


def test_a_candidate_of_a_comparison_is_a_side(pages, session):
    both = pages.keep(
        level(candidate="gin"), level(candidate="net"), kind="compare", name="go", number=7
    )
    data = pages.data(f"/overlay?a={both}:gin&b={both}:net")
    assert data["run"]["result"]["kind"] == "diff"
    assert (
        "name one after a colon" in pages.stored(f"/overlay?a={both}&b={session[0]}", 400)["hint"]
    )


def test_a_trend_is_set_beside_its_baseline(pages, session):
    found = pages.stored("/trend?name=api")
    assert found["sentence"]["en"] == (
        "The newest of api, run 3 (DB on SSD), has 28 ok/s, 1.30 × the baseline's, run 1"
        " (api 0.8 CPU): one run each."
    )
    assert "基线" in found["sentence"]["zh"]
    assert found["ledger"]["baseline"]["run"] == session[0]
    changes = [
        entry["baseline"] and entry["baseline"]["ratio"] for entry in found["ledger"]["entries"]
    ]
    assert [change and round(change, 3) for change in changes] == [None, 1.433, 1.302]
    assert found["table"]["columns"][-1]["en"] == "to the baseline"


@pytest.mark.usefixtures("session")
def test_a_trend_without_a_baseline_says_which_run_is_the_best(pages):
    found = pages.stored("/trend?name=api&baseline=nobody")
    assert found["sentence"]["en"].startswith("3 runs of api: run 2 (api 1.2 CPU) is the best")
    assert (found["ledger"]["baseline"], found["tag"]) == (None, "nobody")
    assert len(found["table"]["columns"]) == 10


def test_the_baseline_may_be_older_than_what_is_shown(pages, session):
    found = pages.stored("/trend?name=api&since=2026-01-31T12:03:00Z")
    assert [entry["run"] for entry in found["ledger"]["entries"]] == [session[2]]
    assert found["ledger"]["baseline"]["run"] == session[0]


BASELINES_THAT_CLAIM_NOTHING = {
    "it has no level 40": {},
    "the generator was the limit": {"users": 40, "health": "generator-limited"},
}


@pytest.mark.parametrize("reason", BASELINES_THAT_CLAIM_NOTHING)
def test_a_trend_is_shown_beside_a_baseline_that_claims_nothing_there(pages, reason):
    of = {"users": 10, **BASELINES_THAT_CLAIM_NOTHING[reason]}
    pages.keep(level(**of), number=1, tags=["baseline"])
    pages.keep(level(10), level(40), number=2)
    said = pages.stored("/trend?name=api&at=40")["sentence"]["en"]
    assert said.endswith(f"the baseline, run 1, claims nothing there: {reason}.")


def test_levels_and_requests_can_be_chosen(pages):
    steps = [{**level(50, 10), "name": "simple"}, {**level(50, 20), "name": "complex"}]
    pages.keep(level(10, 90), level(50, 30, requests=steps), number=1)
    found = pages.stored("/trend?name=api")
    assert (found["levels"], found["requests"]) == ([10, 50], ["simple", "complex"])
    (entry,) = pages.stored("/trend?name=api&at=50&request=complex")["ledger"]["entries"]
    assert (entry["concurrency"], entry["ok_per_s"]) == (50, 20)


def test_levels_of_fractional_rates_can_be_chosen(pages):
    pages.keep(level(5, 10, rate=12.5), level(5, 20, rate=20.0), number=1)
    found = pages.stored("/trend?name=api&at=12.5")
    assert (found["levels"], found["ledger"]["concurrency"]) == ([12.5, 20], 12.5)
    assert [entry["ok_per_s"] for entry in found["ledger"]["entries"]] == [10]
    (entry,) = pages.stored("/trend?name=api&at=20.0")["ledger"]["entries"]
    assert entry["ok_per_s"] == 20


def test_comparisons_and_diffs_are_no_rounds_of_a_session(pages, session):
    pages.keep(kind="compare", number=5)
    pages.keep(kind="diff", number=6, levels=[])
    entries = pages.stored("/trend?name=api")["ledger"]["entries"]
    assert [entry["run"] for entry in entries] == session


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize(
    ("query", "reason"),
    [("at=7", "it has no level 7"), ("request=none", "it has no request 'none'")],
)
@pytest.mark.parametrize("baseline", ["baseline", "nobody"])
def test_what_no_run_has_is_said_where_another_can_be_chosen(pages, query, reason, baseline):
    found = pages.stored(f"/trend?name=api&{query}&baseline={baseline}")
    assert reason in found["sentence"]["en"]
    assert {entry["reason"]["text"] for entry in found["ledger"]["entries"]} == {reason}
    assert found["levels"] == [50]


def test_runs_that_were_all_limited_stand_there_with_their_reason(pages):
    for number in (1, 2):
        pages.keep(level(health="generator-limited"), number=number)
    found = pages.stored("/trend?name=api")
    assert found["sentence"]["en"].startswith("No run of api claims anything. The newest, run 2: ")
    assert len(found["table"]["rows"]) == 2


def test_a_name_that_nobody_has_is_said(pages):
    assert pages.stored("/trend?name=none")["sentence"]["en"] == "The store has no run of none."


def test_a_name_of_comparisons_alone_is_said_to_have_no_ledger(pages):
    pages.keep(kind="compare", name="go")
    said = pages.stored("/trend?name=go")["sentence"]["en"]
    assert said.startswith("The store has runs of go, but none that matches; comparisons")


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("/runs/99", 404, "there is no run 99"),
        ("/runs/x", 400, "run='x' is not a whole number above 0"),
        ("/runs/99999999999", 400, "is not a whole number"),
        ("/overlay?a=1", 400, "b='' is not a whole number above 0"),
        ("/overlay?a=98&b=99", 404, "there is no run 98"),
        ("/?since=never", 400, "'never' is neither a day nor a time"),
        ("/trend?name=api&at=0", 400, "'0' is not a rate above 0"),
        ("/trend", 400, "the query has no name"),
        ("/trend?name=", 400, "the query has no name"),
        (f"/runs/{'9' * 5000}", 400, f"run='{'9' * 40}' is not a whole number above 0"),
    ],
)
@pytest.mark.usefixtures("session")
def test_what_cannot_be_shown_is_said(pages, path, status, message):
    assert message in pages.stored(path, status)["message"]


def test_a_run_of_a_newer_torr_is_said(pages, session):
    pages.spoil(session[0], schema=3)
    found = pages.stored(f"/runs/{session[0]}", 404)
    assert "was made by a newer torr (its schema is 3" in found["message"]
    assert found["hint"] == "update torr"


BROKEN = {
    "run {} was made by a newer torr (its schema is 3, this torr reads 2)": {"schema": 3},
    "run {} is not a result of torr: Expected `object`, got `array`": {"whole": []},
    "run {} is not a result of torr: levels[0]: Object missing required field `concurrency`": {
        "levels": [{"round": 1}]
    },
}


@pytest.mark.parametrize("reason", BROKEN)
def test_one_broken_run_takes_no_trend_with_it(pages, session, reason):
    pages.spoil(session[1], **BROKEN[reason])
    first, broken, last = pages.stored("/trend?name=api")["ledger"]["entries"]
    assert broken["reason"]["text"] == reason.format(session[1])
    assert (first["ok_per_s"], last["ok_per_s"]) == (SESSION[0][1], SESSION[2][1])


def test_a_page_that_cannot_be_made_says_why_to_reader_and_server(pages, session, capsys):
    pages.spoil(session[0], kind="compare", experiment={"candidates": {"one": {"versions": 5}}})
    said = pages.stored(f"/runs/{session[0]}", 500)["message"]
    assert said.startswith("torr cannot make this page: TypeError: ")
    assert capsys.readouterr().err.startswith(f"note: '/runs/{session[0]}': {said}")


def test_a_store_that_breaks_is_said(pages):
    pages.keep()
    pages.place.file.write_bytes(b"no database" * 1000)
    for extra in pages.place.file.parent.glob("runs.db-*"):
        extra.unlink()
    assert "it is broken" in pages.stored("/", 503)["message"]


def test_what_runs_are_called_is_data(pages):
    hostile = "</script><script>alert(1)</script>"
    run_id = pages.keep(name=hostile, note=hostile, tags=[hostile])
    for path in ("/", f"/runs/{run_id}", f"/trend?name={hostile.replace('/', '%2F')}"):
        status, _, body = pages.ask(path.replace(" ", "%20"))
        assert status == 200
        assert hostile not in body


def test_pages_change_nothing_and_are_kept_by_nobody(pages, session):
    before = pages.stored("/")
    for path in ("/", f"/runs/{session[0]}", "/trend?name=api"):
        status, headers, _ = pages.ask(path)
        assert (status, headers["cache-control"]) == (200, "no-store")
        assert headers["x-frame-options"] == "DENY"
    with_token = {"authorization": "Bearer x"}
    assert pages.ask("/", **with_token)[0] == 200
    assert pages.stored("/") == before
    assert pages.ask("/nothing")[0] == 404
