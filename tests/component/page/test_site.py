"""Every page of the documentation site, built as `make docs` builds it and served locally."""

from __future__ import annotations

import functools
import http.server
import re
import subprocess
import threading
from urllib.parse import unquote, urldefrag

import pytest

from documents import ROOT

pytestmark = pytest.mark.full

AXE = (ROOT / "web/node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")
LINKS = "[...document.querySelectorAll('[href], [src]')].map((e) => e.href || e.src)"
IDS = "[...document.querySelectorAll('[id]')].map((e) => e.id)"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Log nothing."""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build the site; return its folder."""
    folder = tmp_path_factory.mktemp("site")
    python = ROOT / "build/docs-tools/bin/python"
    assert python.exists(), "the tools of the site are missing: run `make docs`"
    subprocess.run([python, ROOT / "scripts/docs_site.py", folder], check=True)
    return folder / "docs"


@pytest.fixture(scope="module")
def site(built):
    """Serve the site; return its address."""
    handler = functools.partial(Quiet, directory=built)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def pages(built):
    return sorted(path.relative_to(built) for path in built.rglob("*.html"))


@pytest.mark.parametrize("look", ["wide", "dark"])
def test_axe_finds_no_serious_violation_and_nothing_is_loaded_from_elsewhere(
    built, site, visit, look
):
    opened = visit(site, look)
    serious = {}
    for path in pages(built):
        opened.page.goto(f"{site}{path}")
        opened.page.evaluate(AXE)
        violations = opened.page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
        for violation in violations["violations"]:
            if violation["impact"] in {"serious", "critical"}:
                html = violation["nodes"][0]["html"][:200]
                serious.setdefault((violation["id"], html), []).append(str(path))
    assert serious == {}
    assert [url for url in opened.asked if not url.startswith((site, "data:"))] == []
    assert opened.complaints == []


def test_every_link_leads_to_a_page_of_the_site_and_to_a_heading(built, site, visit):
    page = visit(site).page
    links, ids = {}, {}
    for path in pages(built):
        page.goto(f"{site}{path}")
        links[str(path)] = page.evaluate(LINKS)
        ids[str(path)] = set(page.evaluate(IDS))
    broken = {
        (path, link)
        for path, all_links in links.items()
        for link in all_links
        if link.startswith(site) and not leads_somewhere(link, site, built, ids)
    }
    assert broken == set()


def leads_somewhere(link, site, built, ids):
    """Whether the file of a link exists, and in it the element that the link names."""
    address, anchor = urldefrag(link)
    path = unquote(address.removeprefix(site).partition("?")[0]) or "index.html"
    if not (built / path).is_file():
        return False
    return not anchor or path not in ids or unquote(anchor) in ids[path]


@pytest.fixture(params=["served", "from disk"])
def root(request, built, site):
    return site if request.param == "served" else f"{built.as_uri()}/"


@pytest.mark.parametrize(("start", "words"), [("", "capacity"), ("zh/", "容量")])
def test_the_search_finds_pages_by_their_words(root, visit, start, words):
    opened = visit(f"{root}{start}index.html")
    opened.page.locator(".md-search__button").click()
    opened.page.get_by_role("combobox").fill(words)
    opened.page.get_by_text(re.compile(r"^[1-9]\d* results?$")).wait_for()
    assert [url for url in opened.asked if not url.startswith((root, "data:"))] == []
