"""report.html as a file: what it may run and reach, and that data stays data."""

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path

import pytest

import results
import torr.report
import typed
from page import Page
from torr.errors import OutputError
from torr.report.files import html
from torr.results.base import encode

KINDS = ("run", "ladder", "limited_ladder", "collapsing_ladder", "diffed")
HOSTILE = '</script><script>alert("owned")</script><!--'


@pytest.fixture(params=[*KINDS, "streamed", "streamed_ladder"])
def any_result(request):
    return request.getfixturevalue(request.param)


def sha256(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_page_asks_no_host_for_anything(any_result):
    page = Page(html.page(any_result))
    assert page.tags.count("script") == 2
    assert not {"link", "img", "iframe", "base", "object"} & set(page.tags)
    names = {key for key, _ in page.attributes}
    assert not names & {"src", "href", "style", "action", "srcset"}
    assert not [name for name in names if name.startswith("on")]
    style = page.text("style")
    assert "@import" not in style
    assert "url(" not in style


def test_the_policy_allows_this_script_and_this_style_alone(run):
    page = Page(html.page(run))
    assert page.policy.split("; ") == [
        "default-src 'none'",
        f"script-src {sha256(page.text('script'))}",
        f"style-src {sha256(page.text('style'))}",
        "img-src data:",
        "connect-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    ]


@pytest.mark.parametrize(("mode", "reached"), [("live", "self"), ("serve", "none")])
def test_only_a_page_of_a_run_that_goes_on_reaches_who_served_it(mode, reached):
    page = Page(html.document({"mode": mode, "lang": None, "run": None, "live": {"token": "t"}}))
    assert f"connect-src '{reached}'" in page.policy
    assert page.data["live"] == {"token": "t"}
    assert page.text("title") == "torr"


def test_what_others_sent_is_data_wherever_it_stands(run):
    sample = {"head": HOSTILE, "body": HOSTILE, "detail": HOSTILE}
    hostile = typed.patched(
        run,
        name=HOSTILE,
        note=HOSTILE,
        command=["torr", "run", f"http://127.0.0.1/{HOSTILE}", "-H", f"x: {HOSTILE}"],
        levels={0: {"samples": {0: sample}, "reasons": {f"status.{HOSTILE}": 10}}},
    )
    page = Page(html.page(hostile))
    assert page.tags.count("script") == 2
    assert page.data["run"]["result"]["levels"][0]["samples"][0]["body"] == HOSTILE
    assert HOSTILE in page.text("title")
    assert HOSTILE in page.data["run"]["view"]["command"]


def test_the_whole_result_is_inside_but_for_the_histograms_of_intervals(ladder):
    inside = Page(html.page(ladder)).data["run"]["result"]
    whole = json.loads(encode(ladder))
    for level in whole["levels"]:
        for piece in level["intervals"]:
            piece.pop("histograms")
    assert inside == whole


def test_without_scripts_the_verdict_and_the_trust_line_are_read(ladder):
    page = Page(html.page(ladder))
    assert page.text("h1").startswith("Holds 18,167 requests/s at 200 connections")
    assert page.text("p").startswith("Healthy")


def test_the_language_that_was_asked_for_is_that_of_the_page(run, tmp_path):
    (path,) = html.write(run, tmp_path, "zh")
    page = Page(path.read_text())
    assert ("lang", "zh") in page.attributes
    assert page.data["lang"] == "zh"


def test_a_page_that_was_not_built_says_what_to_do(run, monkeypatch):
    monkeypatch.setattr(html, "BUNDLE", Path("/missing"))
    with pytest.raises(OutputError, match=r"/missing/page.css: the page was not built") as caught:
        html.page(run)
    assert caught.value.hint == "run `make build` in the checkout"


def test_nothing_in_the_bundle_ends_its_element():
    assert not re.search(r"</script|<!--", (html.BUNDLE / "page.js").read_text(), re.IGNORECASE)
    assert "</style" not in (html.BUNDLE / "page.css").read_text()


def test_the_report_of_a_ladder_of_ten_minutes_has_five_megabytes_at_most():
    assert len(html.page(results.ladder_of_ten_minutes()).encode()) <= 5_000_000


def test_the_bundle_is_two_hundred_kilobytes_at_most():
    files = sorted(html.BUNDLE.iterdir())
    assert [path.name for path in files] == ["messages.json", "page.css", "page.js"]
    assert sum(len(gzip.compress(path.read_bytes())) for path in files) <= 200_000


def test_everything_is_written_at_once(tmp_path, ladder):
    paths = torr.report.write_all(ladder, tmp_path)
    assert [path.name for path in paths] == [
        *("report.html", "summary.md", "levels.csv", "apiserver.dat"),
        *("apiserver_qps_ttlb.png", "apiserver_successrate.png"),
    ]
    assert sorted(tmp_path.iterdir()) == sorted(paths)


def test_a_run_has_no_plots_over_concurrency(tmp_path, run):
    paths = torr.report.write_all(run, tmp_path)
    assert [path.name for path in paths] == ["report.html", "summary.md", "levels.csv"]


def test_a_diff_is_written_with_its_pictures(tmp_path, diffed):
    assert len(torr.report.write_all(diffed, tmp_path)) == 5


def test_a_place_that_cannot_be_written_is_an_error_that_names_it(tmp_path, run):
    with pytest.raises(OutputError, match="missing: the report could not be written"):
        torr.report.write_all(run, tmp_path / "missing")
