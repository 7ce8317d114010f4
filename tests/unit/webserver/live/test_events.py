"""What readers get of a run, over real connections."""

from __future__ import annotations

import json
import socket
from contextlib import contextmanager
from urllib.parse import urlsplit

import msgspec

from doubles import Truth
from events import Events, ask
from installed import wait_until
from torr.results.result import TrialFailure
from torr.webserver import server
from torr.webserver.live import stream

INTERVALS = 10


def test_a_reader_hears_a_run_from_its_start_to_its_end(played):
    run = played()
    # One look at the clock is as late as the next.
    run.page.feed.remaining.clock = lambda: 50.0
    with Events(run.url) as events:
        first = events.until("run")
        assert first["result"]["status"] == "running"
        assert first["result"]["levels"] == []
        run.begin()
        assert events.until("progress") == {
            "elapsed_s": 0.0,
            "remaining_s": 36.0,
            "level": 0,
            "levels": 3,
            "from_s": -2.0,
            "to_s": 10.0,
            "is_warmup": True,
            "generator": None,
        }
        run.slice(-1)
        came = events.until("interval")
        place = {"level": 0, "concurrency": 2, "round": 1, "candidate": None, "factors": {}}
        assert {key: came[key] for key in place} == place
        assert came["stream_times"] == []
        assert came["interval"]["ok_per_s"] == 1000
        assert "histograms" not in came["interval"]
        now = events.until("progress")["generator"]
        assert now["health"] == "unknown"
        assert "busiest worker 10 % of a core" in now["text"]["en"]
        run.finish()
        so_far = events.until("run")
        assert so_far["result"]["status"] == "running"
        assert so_far["result"]["capacity"]["peak"]["ok_per_s"] == 1000
        assert [x["phase"] for x in so_far["result"]["levels"][0]["intervals"]] == ["warmup"]
        assert "histograms" not in so_far["result"]["levels"][0]["intervals"][0]
        assert "1,000" in json.dumps(so_far["view"])
        run.end()
        assert events.until("end")["result"]["status"] == "complete"
        assert events.rest() == []
    assert run.complaints == []


def test_a_reload_in_mid_run_loses_nothing(played):
    run = played()
    run.begin()
    for second in range(3):
        run.slice(second)
    with Events(run.url) as events:
        found = [events.next() for _ in range(5)]
    assert [kind for kind, _ in found] == ["run", "interval", "interval", "interval", "progress"]
    assert [data["interval"]["t_s"] for kind, data in found if kind == "interval"] == [0, 1, 2]


def test_a_lost_connection_goes_on_where_it_was(played):
    run = played()
    run.begin()
    run.slice(0)
    with Events(run.url) as events:
        events.until("interval")
        last_id = events.last_id
    run.slice(1)
    run.slice(2)
    with Events(run.url, last_id) as events:
        found = [events.next() for _ in range(2)]
    assert [data["interval"]["t_s"] for _, data in found] == [1, 2]


def test_a_page_of_an_older_run_gets_the_whole_new_one(played):
    with Events(played(name="one").url) as events:
        events.until("run")
        of_one = events.last_id
    other = played(name="two")
    with Events(other.url, of_one) as events:
        assert events.until("run")["result"]["name"] == "two"


def test_who_has_the_end_is_told_to_stay_away(played):
    run = played()
    run.begin()
    run.slice(0)
    run.finish()
    with Events(run.url) as events:
        run.end()
        events.until("end")
        last_id = events.last_id
    with Events(run.url, last_id) as again:
        assert again.status == 204
    with Events(run.url) as late:
        assert [kind for kind, _ in late.rest()] == ["end"]


def test_trials_that_are_not_kept_are_no_intervals(played):
    run = played()
    run.begin()
    run.slice(0, round_number=0)
    run.slice(1, candidate="go", factors={"workers": 2})
    with Events(run.url) as events:
        came = events.until("interval")
    assert (came["candidate"], came["factors"]) == ("go", {"workers": 2})
    assert came["interval"]["t_s"] == 1


def test_a_failed_trial_is_told(played):
    run = played()
    with Events(run.url) as events:
        events.until("run")
        failure = TrialFailure(candidate="go", round=1, kind="x", text="no port")
        run.directory.keep_failure(failure)
        run.page.feed.trial_failed(failure)
        assert events.until("run")["result"]["failures"] == [msgspec.to_builtins(failure)]
    assert 'torr_failed_trials_total{candidate="go",setting=""} 1' in ask(run.url, "/metrics")[2]


def test_many_readers_hear_the_same_and_too_many_are_refused(played, monkeypatch):
    monkeypatch.setattr("torr.webserver.live.app.MAX_READERS", 3)
    run = played()
    run.begin()
    readers = [Events(run.url) for _ in range(3)]
    for reader in readers:
        reader.until("run")
    with Events(run.url) as fourth:
        assert fourth.status == 503
    run.slice(0)
    for reader in readers:
        assert reader.until("interval")["interval"]["t_s"] == 0
        reader.close()


@contextmanager
def deaf_reader(run):
    """Somebody who asks for events and takes none, before more events than fit on the way."""
    place = urlsplit(run.url)
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect((place.hostname, place.port))
        deaf.sendall(b"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        wait_until(lambda: run.page._readers.count)
        errors = {f"{number:03}" * 600: 1 for number in range(200)}
        for second in range(INTERVALS):
            run.slice(second, truth=Truth(errors=errors))
        yield


def test_a_reader_that_takes_nothing_keeps_nobody_waiting(played, monkeypatch):
    monkeypatch.setattr(stream, "SEND_TIMEOUT_S", 600)
    monkeypatch.setattr(server, "_DROP_MS", 600_000)
    run = played()
    run.begin()
    with deaf_reader(run), Events(run.url) as events:
        heard = [events.until("interval")["interval"]["t_s"] for _ in range(INTERVALS)]
        assert heard == list(range(INTERVALS))
        assert run.page._readers.count == 2


def test_a_reader_that_takes_nothing_is_dropped(played, monkeypatch):
    monkeypatch.setattr(stream, "SEND_TIMEOUT_S", 0.1)
    run = played()
    run.begin()
    with deaf_reader(run):
        wait_until(lambda: run.page._readers.count == 0)


def test_a_page_that_cannot_be_fed_ends_no_run(played):
    run = played()
    run.begin()
    run.page.feed.journal._file.close()
    run.slice(0)
    run.slice(1)
    assert len(run.complaints) == 1
    assert "the live page is no longer updated" in run.complaints[0]
    run.finish()
    with Events(run.url) as events:
        run.end()
        assert events.until("end")["result"]["levels"][0]["intervals"]


def test_names_of_candidates_and_settings_are_shown_as_they_are_kept(played):
    run = played()
    run.begin()
    run.slice(1, candidate="a\x1b[2J", factors={"db": "http://ann:hush@h/"})
    with Events(run.url) as events:
        came = events.until("interval")
    assert (came["candidate"], came["factors"]) == (r"a\x1b[2J", {"db": "http://***@h/"})
    shown = ask(run.url, "/metrics")[2]
    assert 'setting="db http://***@h/"' in shown
    assert "hush" not in shown
