"""What is said early of a target that answers everything with one status that counts as failed."""

from __future__ import annotations

import re

import pytest

from doubles import Truth, interval_of, measured_interval
from torr.cli.one_status import OneStatus

FAILED = {"status": 50}


def piece(statuses, errors=None, *, ok=0, seconds=1.0):
    truth = Truth(ok_per_s=ok, errors=FAILED if errors is None else errors)
    return measured_interval(truth, 0, statuses=statuses, seconds=seconds)


@pytest.fixture
def told(capsys):
    """Says intervals to a listener, and returns what it said after each."""

    def tell(*pieces, language="en", is_of_http=True):
        listener = OneStatus(language, lambda: None, is_of_http)
        said = []
        for each in pieces:
            listener.interval_came(None, each)
            said.append(capsys.readouterr().err)
        return said

    return tell


def test_a_target_that_refuses_everything_is_said_after_a_second_and_once(told):
    refused = piece({"401": 50}, seconds=0.5)
    first, second, *others = told(*[refused] * 6)
    assert first == ""
    assert second.startswith("note: every response so far has status 401")
    assert "--expect-status 401" in second
    assert others == [""] * 4


def test_a_status_of_http_is_no_success_of_other_protocols(told):
    (said,) = told(piece({"200": 50}, {"status": 50}), is_of_http=False)
    assert said.startswith("note: every response so far has the HTTP status 200")
    assert "--expect-status" not in said


def test_the_note_is_said_in_chinese(told):
    (said,) = told(piece({"401": 50}), language="zh")
    assert said.startswith("注意：到目前为止，每个响应的状态码都是 401")


SILENT = {
    "some are fine": [piece({"401": 50, "200": 50}, ok=50)],
    "all are fine": [piece({"204": 50}, {}, ok=50)],
    "two statuses": [piece({"401": 25, "503": 25})],
    "one after the other": [piece({"401": 50}, seconds=0.5), piece({"503": 50}, seconds=0.5)],
    "some fail otherwise": [piece({"401": 25}, {"status": 25, "timeout": 25})],
    "none is answered": [piece({}, {"connect": 50})],
}


@pytest.mark.parametrize("first", SILENT.values(), ids=SILENT)
def test_a_beginning_that_is_not_so_is_not_looked_at_again(told, first):
    assert set(told(*first, piece({"401": 50}))) == {""}


def test_a_target_that_answers_late_is_looked_at_when_it_answers(told):
    before, after = told(piece({}, {}), piece({"401": 50}))
    assert before == ""
    assert "status 401" in after


def test_the_moving_line_is_taken_away_first(capsys):
    seen = []
    listener = OneStatus("en", lambda: seen.append(capsys.readouterr().err))
    listener.interval_came(None, piece({"401": 50}))
    assert seen == [""]
    assert "401" in capsys.readouterr().err


@pytest.mark.parametrize(("flags", "begins"), [([], "note: every"), (["--lang", "zh"], "注意")])
def test_a_run_says_it_and_goes_on(torr, fake, monkeypatch, flags, begins):
    def refused(truth, second):
        return {**interval_of(truth, second), "statuses": {"401": 50}}

    monkeypatch.setattr("doubles.interval_of", refused)
    fake.curve = lambda _users: Truth(ok_per_s=0, errors=FAILED)
    ended = torr("run", *flags, "http://127.0.0.1:9/")
    # Whole words: the time in the name of the run directory may have these digits too.
    assert len(re.findall(r"\b401\b", ended.err)) == 3
    assert ended.err.startswith(begins)
    assert ended.code == 3
    assert len(fake.loads) == 1
    assert not fake.loads[0].stopped
