"""A third language, made of one .po file and no code."""

from string import Formatter

import pytest
from babel.messages.catalog import Catalog

import messages
from torr.messages import catalogue


@pytest.fixture(scope="session")
def pseudo_catalogue():
    """Return a compiled catalogue in which every template is in brackets, in capitals."""
    said = messages.said()
    made = messages.updated(Catalog(locale="eo"))
    for entry in made:
        if entry.id:
            key = entry.id if isinstance(entry.id, str) else entry.id[0]
            english = said[key].english or (key, said[key].plural or key)
            shouted = tuple(f"[{capitals(text)}]" for text in english[:2])
            entry.string = shouted[0] if isinstance(entry.id, str) else shouted
    return messages.compiled(made)


@pytest.fixture
def pseudo(pseudo_catalogue, tmp_path, monkeypatch):
    """Return the code of the language of the catalogue in capitals, which is installed."""
    folder = tmp_path / "eo" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "torr.mo").write_bytes(pseudo_catalogue)
    monkeypatch.setattr(catalogue, "LOCALES", tmp_path)
    clear()
    yield "eo"
    monkeypatch.undo()
    clear()


def clear():
    catalogue.languages.cache_clear()
    catalogue._catalogue.cache_clear()


def capitals(template):
    """Return a template in capitals, with its placeholders as they are."""
    written = ""
    for literal, name, form, conversion in Formatter().parse(template):
        written += literal.upper()
        if name is not None:
            how = (f"!{conversion}" if conversion else "") + (f":{form}" if form else "")
            written += f"{{{name}{how}}}"
    return written
