"""The summary on the page of a step of GitHub Actions."""

from __future__ import annotations

import pytest

from torr.report.files import markdown, step_summary


@pytest.fixture
def run(make_level, make_result):
    return make_result("run", [make_level(5, 100.0, 9.0)], [])


def test_it_is_appended_to_what_the_step_has(run, tmp_path):
    path = tmp_path / "step.md"
    assert step_summary.append(run, path) is None
    assert path.read_text() == markdown.text(run)
    assert step_summary.append(run, path) is None
    assert path.read_text() == f"{markdown.text(run)}\n{markdown.text(run)}"


def test_it_makes_no_step_too_large_to_be_shown(run, tmp_path):
    path = tmp_path / "step.md"
    before = "x" * step_summary.MOST_BYTES
    path.write_text(before)
    assert "has no room" in step_summary.append(run, path)
    assert path.read_text() == before


def test_a_file_that_cannot_be_written_is_a_note(run, tmp_path):
    said = step_summary.append(run, tmp_path / "none" / "step.md")
    assert said.endswith("cannot be written: No such file or directory")
