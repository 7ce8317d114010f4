"""What a CI server is told of a run: JUnit XML, and the summary of a step."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from doubles import Truth

URL = "http://127.0.0.1:9/x"

pytestmark = pytest.mark.usefixtures("fake")


def junit_of(path):
    suite = ET.parse(path).getroot()  # noqa: S314 - written by torr
    return [(case.get("name"), [part.get("message") for part in case]) for case in suite]


def test_slos_are_told_a_ci_server(torr, tmp_path):
    ended = torr("run", "--slo", "p95 < 1s", "--junit", "ci.xml", URL)
    assert ended.code == 0, ended.err
    assert junit_of(tmp_path / "ci.xml") == [("p95 < 1s at 50", [])]


def test_a_ci_server_is_told_why_nothing_was_measured(torr, fake, tmp_path):
    fake.curve = lambda _users: Truth(0, failure="nobody answers")
    assert torr("run", "--junit", "ci.xml", URL).code == 3
    assert junit_of(tmp_path / "ci.xml") == [("passes", ["nobody answers"])]


def test_a_step_of_github_shows_the_summary(torr, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "step.md"))
    assert torr("run", URL).code == 0
    summary = (tmp_path / "_output/torr/latest/summary.md").read_text()
    assert (tmp_path / "step.md").read_text() == summary


def test_a_step_that_takes_no_summary_costs_no_result(torr, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "none" / "step.md"))
    ended = torr("run", URL)
    assert ended.code == 0
    assert "the step's summary cannot be written" in ended.err
