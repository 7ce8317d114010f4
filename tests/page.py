"""Parses a report page: its elements, their attributes, and the data for its charts."""

import json
from html.parser import HTMLParser

from torr.report.view import view_tables

VOID = {"meta"}


class Page(HTMLParser):
    """Collects elements, attributes and the text of each; fails on tags that do not balance."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.open, self.texts = [], [], [], {}
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in VOID:
            self.open.append((tag, dict(attributes).get("id")))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)

    def text(self, tag, name=None):
        return "".join(self.texts[tag, name])

    @property
    def data(self):
        """The bootstrap data."""
        return json.loads(self.text("script", "torr-data"))

    @property
    def policy(self):
        return next(value for key, value in self.attributes if key == "content" and ";" in value)


def english(text):
    return text if isinstance(text, str) else text["en"]


def titles(result, *, is_folded=None):
    """Return the titles of the tables of a page: of all, or of those that are folded or not."""
    tables = view_tables.tables(result)
    return [english(t["title"]) for t in tables if is_folded in {None, t["folded"]}]
