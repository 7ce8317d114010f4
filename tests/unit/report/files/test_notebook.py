"""What a notebook shows of a result: words, and the report page in a frame."""

from html.parser import HTMLParser

import pytest

import typed
from compared import pair
from timed import budgeted
from torr.report.files import html, notebook
from torr.report.text import sentence, trust


class Fragment(HTMLParser):
    """The text outside of the frame, the frames' attributes, and every tag."""

    def __init__(self, text):
        super().__init__()
        self.frames, self.tags, self.open, self.text = [], [], [], ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.open.append(tag)
        if tag == "iframe":
            self.frames.append(dict(attrs))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(params=["run", "ladder", "diffed", "streamed", "pair", "budgeted"])
def result(request):
    made = {"pair": lambda: pair(0.88), "budgeted": budgeted}.get(request.param)
    return made() if made else request.getfixturevalue(request.param)


def test_the_frame_holds_the_report_page_as_it_is(result):
    (frame,) = Fragment(notebook.fragment(result)).frames
    assert frame["srcdoc"] == html.page(result)


def test_the_frame_has_an_origin_of_its_own(run):
    (frame,) = Fragment(notebook.fragment(run)).frames
    assert frame["sandbox"].split() == ["allow-scripts", "allow-downloads"]


def test_the_verdict_and_the_trust_line_stand_outside_of_the_frame(result):
    shown = Fragment(notebook.fragment(result))
    assert str(sentence.verdict(result)) in shown.text
    assert str(trust.trust(result)) in shown.text


def test_text_from_outside_opens_no_tag_and_ends_no_attribute(run):
    hostile = "<script>alert(1)</script> ' onload='alert(1)' \" &quot;"
    health = {"verdict": "contended", "reasons": [hostile]}
    run = typed.patched(run, name=hostile, levels={0: {"health": health}})
    shown = Fragment(notebook.fragment(run))
    (frame,) = shown.frames
    assert set(frame) == {"sandbox", "title", "style", "srcdoc"}
    assert set(shown.tags) == {"div", "p", "b", "iframe"}
    assert frame["title"] == hostile
    assert frame["srcdoc"] == html.page(run)


def test_a_page_too_large_for_a_notebook_is_named_with_the_call_that_writes_it(run, monkeypatch):
    size = len(notebook.fragment(run))
    monkeypatch.setattr(notebook, "MOST_BYTES", size // 2)
    shown = Fragment(notebook.fragment(run))
    assert shown.frames == []
    assert str(sentence.verdict(run)) in shown.text
    assert "result.report()" in shown.text
