"""The pages over stored runs in Chromium: find, open, overlay, trend."""

from __future__ import annotations

import random
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from documents import ROOT
from stored_runs import level, text
from tiers import full
from torr import engine
from torr.store.runs.database_url import DatabaseUrl
from torr.store.runs.store import Store
from torr.webserver.access import Access
from torr.webserver.history.app import app
from torr.webserver.server import HISTORY, ApplicationServer, ServerSocket

AXE = ROOT / "web/node_modules/axe-core/axe.min.js"
COMMITS = ("4f1a09c2", "b77d3e51", "09ce44aa", "e2105b9f")
PAGES = {
    "list": "/",
    "trend": "/trend?name=checkout",
    "overlay": "/overlay?a=1&b=8",
    "opened": "/runs/3",
    "missing": "/runs/99",
}


@pytest.fixture
def store(tmp_path):
    with Store.open(DatabaseUrl(f"sqlite:///{tmp_path}/runs.db")) as made:
        yield made


@pytest.fixture
def pages(store):
    """Eight runs of a name and four commits, three rounds each, and a run of another name."""
    chance = random.Random(3)
    spread = engine.statistics([round(1e6 * chance.lognormvariate(3, 0.4)) for _ in range(3000)])
    known = {"histograms": {"response": spread[1]}}
    for number, rate in enumerate((2000, 2010, 2120, 2110, 2090, 1840, 1850, 2180), 1):
        rounds = [
            level(
                200,
                rate * chance.gauss(1, 0.008),
                p95=round(48 * 2000 / rate * chance.gauss(1, 0.02), 2),
                number=n,
                **known,
            )
            for n in (1, 2, 3)
        ]
        commit = COMMITS[(number - 1) // 2] * 5
        store.register(
            text(
                "checkout",
                *rounds,
                number=number,
                note=("cache off", None, "cache on")[number % 3],
                tags=["baseline"] if number == 3 else [],
                environment={"machine": {"host": "vm"}, "git": commit},
            )
        )
    store.register(text("search", level(10, 90), number=9, tags=["nightly"]))
    server_socket = ServerSocket("127.0.0.1", 0, HISTORY)
    access = server_socket.access()
    server = ApplicationServer(app(lambda: store, access, "baseline", None), server_socket).start()
    yield server_socket.url(access).rstrip("/")
    server.stop()


@pytest.mark.parametrize("look", ["wide", *full("dark", "narrow", "chinese")])
@pytest.mark.parametrize("name", PAGES)
def test_every_page_opens_whole_and_asks_nobody_else(pages, visit, name, look):
    opened = visit(pages + PAGES[name], look)
    page = opened.page
    page.locator("h1").wait_for()
    if name in {"trend", "overlay"}:
        page.locator("figure.main canvas").first.wait_for()
    opened.shot(f"kept-{name}-{look}")
    # A browser tells of every response that is an error.
    told = [text for text in opened.complaints if "404 (Not Found)" not in text]
    assert told == []
    assert {url.split("?")[0] for url in opened.asked} <= {pages + PAGES[name].split("?")[0]}
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("h1").count() == 1


@pytest.mark.parametrize("look", ["wide", *full("dark")])
@pytest.mark.parametrize("name", ["list", *full(*(name for name in PAGES if name != "list"))])
def test_axe_finds_no_serious_violation(pages, visit, name, look):
    page = visit(pages + PAGES[name], look).page
    page.locator("h1").wait_for()
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    serious = [v for v in found["violations"] if v["impact"] in {"serious", "critical"}]
    assert [(v["id"], v["nodes"][0]["html"][:200]) for v in serious] == []


def test_runs_are_found_by_what_is_typed(pages, visit):
    page = visit(pages).page
    assert page.locator("h1").text_content() == "9 stored runs"
    page.get_by_label("tags").fill("nightly")
    page.get_by_label("name").fill("search")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?name=search&tag=nightly")
    assert page.locator("h1").text_content() == "1 stored run"
    assert page.get_by_label("name").input_value() == "search"
    page.get_by_role("link", name="Show all").click()
    page.get_by_label("since").fill("never")
    page.get_by_role("button", name="Find").click()
    assert page.locator("h1").text_content() == "'never' is neither a day nor a time"


def test_a_run_is_opened_and_the_way_leads_back(pages, visit):
    page = visit(pages).page
    page.get_by_role("link", name="9", exact=True).click()
    page.wait_for_url("**/runs/9")
    assert page.get_by_role("button", name="Copy as CSV").count() >= 1
    page.get_by_role("navigation").get_by_role("link", name="search").click()
    page.wait_for_url("**/trend?name=search")
    assert page.locator("h1").text_content().startswith("1 run of search: run 9 is the best")
    page.get_by_role("navigation").get_by_role("link", name="Stored runs").click()
    page.wait_for_url(f"{pages}/")


def test_two_chosen_runs_are_overlaid_the_older_first(pages, visit):
    page = visit(pages).page
    overlay = page.get_by_role("button", name="Overlay")
    assert overlay.is_disabled()
    for run in ("8", "2", "1"):
        page.get_by_role("checkbox", name=f"choose {run}", exact=True).check()
    assert overlay.is_disabled()
    # Sorted, the rows that are chosen stay chosen.
    page.get_by_role("columnheader", name="ok/s").get_by_role("button").click()
    assert page.get_by_role("checkbox", name="choose 8", exact=True).is_checked()
    page.get_by_role("checkbox", name="choose 2", exact=True).uncheck()
    overlay.click()
    page.wait_for_url("**/overlay?a=1&b=8")
    legend = page.locator("figure.main .legend").first.text_content()
    assert "checkout (run 1)" in legend
    assert "checkout (run 8)" in legend


def test_a_trend_says_how_the_newest_stands_to_the_baseline(pages, visit):
    page = visit(f"{pages}/trend?name=checkout").page
    said = page.locator("h1").text_content()
    assert re.match(
        r"The newest of checkout, run 8 \(cache on\), has 2,1\d\d ok/s, 1\.0\d × the"
        r" baseline's, run 3 \(cache off\): inconclusive\.",
        said,
    )
    plot = page.locator("figure.main .plot").first
    plot.focus()
    plot.press("End")
    spoken = page.locator("figure.main [role=status]").first.text_content()
    assert spoken.startswith("run 8 · e2105b9f · trials: 3 · cache on, ")


def test_another_baseline_is_chosen_on_the_page(pages, visit, store):
    store.annotate(1, add=["old"])
    page = visit(f"{pages}/trend?name=checkout").page
    page.get_by_label("baseline", exact=True).select_option("old")
    page.wait_for_url("**/trend?name=checkout&baseline=old")
    assert "the baseline's, run 1" in page.locator("h1").text_content()


def test_the_language_goes_along_to_the_next_page(pages, visit):
    page = visit(pages).page
    page.get_by_role("button", name="中文").click()
    assert page.locator("h1").text_content() == "9 次已存储的运行"
    page.get_by_role("link", name="9", exact=True).click()
    page.wait_for_url("**/runs/9")
    assert page.locator("html").get_attribute("lang") == "zh"


def test_what_runs_are_called_is_shown_and_never_run(pages, visit, store):
    hostile = "</script><script>owned = true</script><img src=x onerror='owned = true'>"
    run_id = store.register(text(hostile, note=hostile, tags=[hostile], number=20))
    opened = visit(pages)
    page = opened.page
    page.get_by_role("link", name=hostile).click()
    page.wait_for_url("**/trend?name=*")
    page.goto(f"{pages}/runs/{run_id}")
    page.locator("h1").wait_for()
    assert page.evaluate("typeof owned") == "undefined"
    assert page.locator("img").count() == 0
    assert opened.complaints == []


@pytest.fixture
def elsewhere():
    """A page of another site, of links."""
    links = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            text = "".join(f'<a href="{link}">link {at}</a> ' for at, link in enumerate(links))
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(text.encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://localhost:{server.server_address[1]}/", links
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_link_in_a_chat_opens_a_page_that_needs_the_token(store, visit, elsewhere):
    place, links = elsewhere
    server_socket = ServerSocket("127.0.0.1", 0, HISTORY)
    access = Access("torr-test", is_loopback_only=False, token="t0ken")  # noqa: S106
    server = ApplicationServer(app(lambda: store, access, "baseline", None), server_socket).start()
    here = f"http://127.0.0.1:{server_socket.port}"
    links += [f"{here}/?token={access.token}", f"{here}/?name=api"]
    opened = visit(place)
    for name in ("link 0", "link 1"):
        opened.page.goto(place)
        opened.page.get_by_role("link", name=name).click()
        opened.page.locator("h1").wait_for()
        assert "token" not in opened.page.url
    server.stop()
