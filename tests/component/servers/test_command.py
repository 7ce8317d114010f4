"""Commands: filled, checked, and what they say to people."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from torr.errors import UsageError
from torr.servers.command import Command, stop_signal
from torr.servers.placeholders import fill
from torr.servers.server_exit import is_clean_code

URL = "http://127.0.0.1:{port}/"


def test_everything_is_filled():
    command = Command(
        ("serve", "--port={port}", "-w", "{processes}", "{delay}"),
        "http://127.0.0.1:{port}/{{uuid}}",
        env=(("TMPDIR", "{scratch}"),),
        cwd=Path("apps/{delay}"),
        health="/{delay}",
    ).filled({"port": 8000, "processes": 4, "delay": "5ms", "scratch": "/tmp/x"})
    assert command.argv == ("serve", "--port=8000", "-w", "4", "5ms")
    assert command.env == (("TMPDIR", "/tmp/x"),)
    assert (command.cwd, command.health) == (Path("apps/5ms"), "/5ms")
    assert command.url == "http://127.0.0.1:8000/{{uuid}}"
    assert (command.port, command.workers) == (8000, 4)
    assert str(command) == "serve --port=8000 -w 4 5ms"


@pytest.mark.parametrize(
    ("argv", "env", "workers", "asked"),
    [
        (("serve",), (), None, 1),
        (("serve",), (("N", "{processes}"),), None, 4),
        (("serve", "{processes}"), (), 2, 2),
    ],
)
def test_workers_are_asked_for_where_the_number_of_processes_is_used(argv, env, workers, asked):
    command = Command(argv, URL, env=env, workers=workers)
    assert command.filled({"port": 1, "processes": 4}).workers == asked


@pytest.mark.parametrize(
    ("text", "shows"),
    [
        ("{a}{a}", "11"),
        ("{{a}}", "{a}"),
        ('{"a": 1}', '{"a": 1}'),
        ("{}", "{}"),
        ("${{a}}", "${a}"),
    ],
)
def test_only_names_in_braces_are_filled(text, shows):
    assert fill(text, {"a": 1}, "x") == shows


def test_an_unknown_name_is_an_error_that_says_which_there_are():
    with pytest.raises(UsageError, match=r"^app: command: \{prot\} is unknown\n") as caught:
        Command(("serve", "{prot}"), URL, name="app").filled({"port": 1, "processes": 2})
    assert (
        caught.value.hint == "known names: {port}, {processes}; write {{prot}} for the text {prot}"
    )


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"argv": ("",)}, "the command is empty"),
        ({"argv": ("a\0b",)}, "contains a NUL character"),
        ({"env": (("a=b", "c"),)}, "'a=b' cannot name a variable of env"),
        ({"grace_s": 0}, "the grace must be longer than 0"),
        ({"health_timeout_s": 0}, "the health timeout must be longer than 0"),
        ({"health": "health"}, "the health path 'health' does not begin with /"),
        ({"workers": 0}, "workers must be 1 or more"),
    ],
)
def test_what_cannot_be_run_is_refused(settings, says):
    with pytest.raises(UsageError, match=says):
        Command(**{"argv": ("serve",), "url": URL, **settings})


@pytest.mark.parametrize("processes", ["no", "0", "-1"])
def test_processes_are_a_number(processes):
    with pytest.raises(UsageError, match="is not a number of processes"):
        Command(("serve", "{processes}"), URL).filled({"port": 1, "processes": processes})


@pytest.mark.parametrize(
    ("url", "port"),
    [("http://127.0.0.1/", 80), ("https://127.0.0.1/", 443), ("unix:/run/app.sock:/", None)],
)
def test_the_port_is_that_of_the_url(url, port):
    assert Command(("serve",), url).port == port


@pytest.mark.parametrize("text", ["TERM", "sigterm", "15"])
def test_signals_are_written_as_people_do(text):
    assert stop_signal(text) == signal.SIGTERM


@pytest.mark.parametrize(
    ("text", "says"),
    [("STOPP", "is not a signal"), ("KILL", "no chance to stop"), ("99", "not a signal")],
)
def test_what_stops_nobody_in_order_is_refused(text, says):
    with pytest.raises(UsageError, match=says):
        stop_signal(text)


@pytest.mark.parametrize(
    ("code", "asked", "is_clean"),
    [
        (0, signal.SIGTERM, True),
        (-15, signal.SIGTERM, True),
        (-2, signal.SIGTERM, True),
        (-3, signal.SIGQUIT, True),
        (-3, signal.SIGTERM, False),
        (143, signal.SIGTERM, True),
        (1, signal.SIGTERM, False),
        (-9, signal.SIGTERM, False),
    ],
)
def test_the_codes_of_servers_that_were_asked_to_stop(code, asked, is_clean):
    assert is_clean_code(code, asked) == is_clean


def test_the_address_of_the_store_is_not_handed_on(monkeypatch):
    monkeypatch.setenv("TORR_STORE", "postgresql://user:secret@db/torr")
    monkeypatch.setenv("COLOUR", "red")
    environment = Command(("serve",), URL, env=(("SIZE", "2"),)).environment
    assert "secret" not in str(environment)
    assert (environment["COLOUR"], environment["SIZE"]) == ("red", "2")


def test_a_candidate_may_have_a_store_of_its_own(monkeypatch):
    monkeypatch.setenv("TORR_STORE", "postgresql://user:secret@db/torr")
    command = Command(("serve",), URL, env=(("TORR_STORE", "none"),))
    assert command.environment["TORR_STORE"] == "none"
