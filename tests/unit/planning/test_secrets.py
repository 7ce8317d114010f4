"""What a run must not write: what is sent, the rows that fill it, and the URLs that are watched."""

from __future__ import annotations

import pytest

from torr.cli.run import run
from torr.options.measure import MeasureOptions
from torr.options.verbs import RUN
from torr.planning import secrets
from torr.planning.prepared import prepare
from torr.profile.go import Pprof

URL = "http://127.0.0.1:9/x"


def secrets_of(*words):
    with run.make_context("run", list(words)) as context:
        options = MeasureOptions.of(RUN, context.params["urls"], context.params)
        return set(prepare(options, words).secrets)


@pytest.mark.parametrize(
    "words",
    [
        ("-H", "authorization: Bearer {{row.t}}"),
        ("-H", "authorization: Bearer {{ row.t | url }}"),
        ("--json-body", '{"password": "{{row.t}}"}'),
        ("-H", "x-user: {{row.token}}"),
    ],
)
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_rows_that_fill_a_secret_or_are_named_as_one_are_secret(tmp_path, name, words):
    (tmp_path / "a.csv").write_text('t,token,n\nhu sh-1,hu sh-1,1111\nhu"sh-2,hu"sh-2,2222\n')
    (tmp_path / "a.jsonl").write_text(
        '{"t": "hu sh-1", "token": "hu sh-1", "n": 1111}\n\n'
        '{"t": "hu\\"sh-2", "token": "hu\\"sh-2", "n": 2222}\n'
    )
    found = secrets_of("--data", str(tmp_path / name), *words, f"{URL}?n={{{{row.n}}}}")
    assert {"hu sh-1", "hu%20sh-1", 'hu"sh-2', 'hu\\"sh-2'} <= found
    assert not {"1111", "2222"} & found


def test_only_the_first_rows_are_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr(secrets, "MOST_ROWS", 2)
    (tmp_path / "a.csv").write_text("token\nhush-1\nhush-2\nhush-3\n")
    found = secrets_of("--data", str(tmp_path / "a.csv"), f"{URL}?a={{{{row.token}}}}")
    assert "hush-2" in found
    assert "hush-3" not in found


def test_a_row_that_cannot_be_read_ends_it(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"token": "hush-1"}\n[1]\n{"token"\n{"token": "hush-2"}\n')
    found = secrets_of("--data", str(tmp_path / "a.jsonl"), f"{URL}?a={{{{row.token}}}}")
    assert "hush-1" in found


def test_urls_that_are_watched_have_secrets(monkeypatch):
    monkeypatch.setattr(Pprof, "check", lambda _: None)
    watched = ("--monitor", "http://ann:hush-1@127.0.0.1:9/metrics?token=hush-2")
    profiled = ("--profile", "http://ann:hush-3@127.0.0.1:9/debug/pprof/profile?key=hush-4!")
    found = secrets_of(*watched, *profiled, URL)
    assert {"ann:hush-1", "hush-1", "hush-2", "ann:hush-3", "hush-4!"} <= found
