"""The live page in Chromium, while the installed torr fires for real."""

from __future__ import annotations

import json
import re
import signal

import pytest


@pytest.fixture
def live(start, visit, written):
    """Start a verb with its live page, and open that."""

    def opened(*arguments):
        process = start(*arguments[:1], "--live", "--live-port", "0", *arguments[1:])
        line = process.stderr.readline()
        assert line.startswith("live    http://127.0.0.1:"), line + process.stderr.read()
        return process, visit(line.split()[-1], script=written.script)

    return opened


def test_stop_ends_the_run_and_shows_what_was_stored(live, steady, tmp_path):
    process, opened = live("run", "-c", "2", "-z", "10m", "--warmup", "0s", steady.url)
    opened.page.get_by_text(re.compile(r"^(10:00|9:\d\d) left")).first.wait_for()
    opened.page.locator(".live-charts canvas").first.wait_for()
    opened.page.locator("button.stop").click()
    opened.page.locator("h1").wait_for()
    sentence = opened.page.locator("h1").text_content()
    assert sentence.startswith("Claims nothing: ")
    assert process.wait(timeout=60) == 130
    stored = json.loads((tmp_path / "_output/torr/latest/result.json").read_text())
    assert stored["status"] == "interrupted"
    assert opened.complaints == []


@pytest.mark.full
def test_a_reload_in_mid_run_shows_the_same_levels(live, steady, written):
    process, opened = live("ladder", "--levels", "2,4", "-z", "15s", "--warmup", "0s", steady.url)
    opened.page.get_by_text("level 2 of 2").wait_for()
    opened.page.locator(".report tbody").first.wait_for()
    before = opened.page.locator(".report tbody").first.text_content()
    opened.page.reload()
    opened.page.locator(".live-charts canvas").first.wait_for()
    # The whole of the second level, though most of it is ahead.
    assert [written.ticks(opened.page, chart)[-1] for chart in range(3)] == ["15"] * 3
    assert opened.page.locator(".report tbody").first.text_content() == before
    process.send_signal(signal.SIGINT)
    opened.page.locator(".live").wait_for(state="detached")
    opened.shot("live-ladder")
    assert process.wait(timeout=60) == 130
    assert opened.complaints == []
