"""A page as a browser would read it."""

from html.parser import HTMLParser

VOID = {"meta", "wbr"}


class Page(HTMLParser):
    """Collects elements, attributes and text; fails on tags that do not balance."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.ids, self.open, self.texts = [], [], [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        self.ids += [value for key, value in attributes if key == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return "".join(self.texts)
