"""The page in Debian's Chromium, with the network off, as its reader sees it."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import sync_playwright

import compared
import results
import served as llm
import timed
import typed
from documents import ROOT
from installed import wait_until
from live_events import Events, served
from torr.report.files import html

SHOTS = ROOT / "build/shots"
LOOKS = {
    "wide": {"viewport": {"width": 1280, "height": 800}},
    "dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    "narrow": {"viewport": {"width": 360, "height": 740}},
    "chinese": {"viewport": {"width": 1280, "height": 800}, "locale": "zh-CN"},
}


def watched():
    """A run whose target and cores were looked at once a second."""
    monitor = {
        "t_s": [0.0, 1.0, 2.0],
        "seconds": [1.0, 1.0, 1.0],
        "cores": {"numbers": [0, 1], "busy_rate": [[10.0, 60.0, 99.0], [5.0, None, 40.0]]},
        "target": {"cpu_rate": [90.0, 95.0, 88.0], "rss_bytes": [24_000_000, 31_000_000, None]},
        "generator": {"cpu_rate": [20.0, 21.0, 22.0]},
    }
    return typed.patched(results.run(), levels={0: {"monitor": monitor}})


def failing():
    """A comparison in which a candidate did not start in one cell."""
    at = {"processes": 1, "connections": 100}
    failures = [compared.failure("go-gin", at)]
    return compared.pair(0.88, 0.9, 1.0, 0.7, factors=compared.FACTORS, failures=failures)


KINDS = {
    "run": watched,
    "ladder": results.ladder,
    "limited": results.limited_ladder,
    "collapsing": results.collapsing_ladder,
    "streams": results.streamed,
    "streams-ladder": results.streamed_ladder,
    "served": llm.run,
    "served-ladder": llm.ladder,
    "calls": results.called,
    "calls-ladder": results.called_ladder,
    "diff": results.diffed,
    "streams-diff": results.streamed_diff,
    "compare": failing,
    "locust": lambda: typed.changed(results.run(), kind="locust"),
    "functions": timed.budgeted,
    "functions-without-budgets": timed.result,
}


@dataclass
class Opened:
    """A page with what it complained of and asked for."""

    page: object
    complaints: list = field(default_factory=list)
    asked: list = field(default_factory=list)

    def shot(self, name):
        """Keep a picture for a person to look at, if the environment asks for it."""
        if "TEST_SHOTS" not in os.environ:
            return
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{name}.png", full_page=True)

    def unfold(self):
        """Open every part, and wait until the last of them has drawn itself."""
        self.page.evaluate(
            "for (const part of document.querySelectorAll('details')) part.open = true"
        )
        self.page.locator("details[data-id=raw] pre").wait_for()


@pytest.fixture(scope="session")
def browser():
    program = shutil.which("chromium-headless-shell")
    assert program, "chromium-headless-shell is missing: run make test-deps"
    # Chromium's own sandbox does not work for root.
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=program, args=sandbox)
        yield made
        made.close()


@pytest.fixture(scope="session")
def tabs():
    """Return the open tabs by their settings: to make one costs as much as most tests."""
    return {}


@pytest.fixture
def visit(browser, tabs):
    """Open an address in a tab of this look, which other tests use before and after."""
    used = []

    def opened(address, look="wide", script=None, **more):
        settings = {"locale": "en-US", "timezone_id": "Asia/Shanghai", **LOOKS[look], **more}
        key = json.dumps([settings, script], sort_keys=True)
        page = tabs.pop(key, None) or new_tab(browser, settings, script)
        made = Opened(page)
        listeners = {
            "console": lambda message: made.complaints.append(message.text),
            "pageerror": lambda error: made.complaints.append(str(error)),
            "request": lambda request: made.asked.append(request.url),
        }
        used.append((key, page, listeners))
        for event, listener in listeners.items():
            page.on(event, listener)
        page.goto(address)
        return made

    yield opened
    for key, page, listeners in used:
        for event, listener in listeners.items():
            page.remove_listener(event, listener)
        if key in tabs or len(page.context.pages) > 1:
            page.context.close()
        else:
            clear(page)
            tabs[key] = page


def new_tab(browser, settings, script):
    """Return an empty page, each document of which begins with a script."""
    context = browser.new_context(**settings)
    if script:
        context.add_init_script(script)
    page = context.new_page()
    page.set_default_timeout(60_000)
    return page


def clear(page):
    """Take away what a test left: what the page has stored, the pointer, the medium."""
    page.evaluate("sessionStorage.clear(); localStorage.clear()")
    page.context.clear_cookies()
    page.emulate_media(media="null")
    page.goto("about:blank")
    page.mouse.move(0, 0)


@pytest.fixture
def read(visit, tmp_path):
    """Write the report of a result and open it from disk, with the network off."""

    def opened(result, look="wide", **more):
        (path,) = html.write(result, tmp_path)
        return visit(path.as_uri(), look, offline=True, **more)

    return opened


@pytest.fixture
def kinds():
    """What makes a result of each kind."""
    return KINDS


WRITTEN = """
const { clearRect, fillText } = CanvasRenderingContext2D.prototype;
CanvasRenderingContext2D.prototype.clearRect = function (...box) {
  this.canvas.written = [];
  this.canvas.drawings = (this.canvas.drawings ?? 0) + 1;
  clearRect.apply(this, box);
};
CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
  (this.canvas.written ??= []).push([text, ...place]);
  fillText.apply(this, [text, ...place]);
};
"""


class Written:
    """What stands on the canvases of a page that was opened with its script."""

    script = WRITTEN

    def all(self, page, chart):
        """Every word of a live chart, in the order of writing."""
        return [text for text, *_ in self._placed(page, chart)]

    def ticks(self, page, chart):
        """The numbers below a live chart, from left to right: what stands in one line."""
        placed = self._placed(page, chart)
        label = next(at for at, (text, *_) in enumerate(placed) if text == "seconds")
        line = placed[label + 1][2]
        return [text for text, _, y in placed[label + 1 :] if y == line and text]

    def _placed(self, page, chart):
        found = f"document.querySelectorAll('.live-charts canvas')[{chart}]?.written"
        wait_until(lambda: page.evaluate(found))
        return page.evaluate(found)


@pytest.fixture
def written():
    return Written()


@pytest.fixture
def events():
    return Events()


@pytest.fixture
def address(events):
    with served(events) as url:
        yield url
