"""What is said of results: none of it lacks Chinese words, none of these is left over or hidden."""

import ast
import json
import re

import pytest

from spoken import CATALOGUE, REPORT, calls, fields, phrases, sources, templates

# Pictures, formats of files, and what a terminal or a browser alone shows have English only.
ENGLISH = {
    *("__init__.py", "cells.py", "csv.py", "dat.py", "diff.py", "doctor.py", "junit.py"),
    *("comparison.py", "comparison_figure.py", "comparison_rows.py", "comparison_scale.py"),
    *("diff_figure.py", "findings.py", "labels.py", "ladder_figure.py", "ladder_marks.py"),
    *("stream_figure.py", "theme.py", "step_summary.py", "png.py", "pooled.py", "side.py"),
    *("sides.py", "notebook.py", "html.py", "plateau.py", "flame_svg.py", "flat.py"),
    "ladder_chart.py",
}
# Names of the field and of formats: the same in every language.
NAMES = {"ms", "rms", "UTC", "torr"}
SOURCES = {name: tree for name, tree in sources().items() if name not in ENGLISH}
WORDS = json.loads(CATALOGUE.read_text())
SAID, TOLD = WORDS["said"], WORDS["told"]


def every_template():
    return {template for tree in SOURCES.values() for template in templates(tree)[0]}


def test_every_template_has_chinese_words():
    assert sorted(every_template() - SAID.keys()) == []


def test_no_words_are_left_over():
    assert sorted(SAID.keys() - every_template()) == []


def test_words_have_the_placeholders_of_their_template():
    differing = {t: w for t, w in SAID.items() if fields(t) != fields(w)}
    assert differing == {}


def test_words_are_chinese_wherever_the_template_has_any():
    letters = {t: re.sub(r"\{[^}]*\}", "", t) for t in SAID}
    same = {t for t, text in letters.items() if SAID[t] == t and re.search(r"[A-Za-z]{2,}", text)}
    assert same <= {"torr CPU", "{rate} ok/s"}


def test_the_file_is_in_order():
    text = CATALOGUE.read_text()
    found = json.loads(text)
    ordered = {part: dict(sorted(found[part].items())) for part in ("said", "told")}
    assert text == json.dumps(ordered, ensure_ascii=False, indent=2) + "\n"


def test_templates_are_written_where_they_are_said():
    modules = SOURCES.keys() - {"say.py"}
    unread = {name: lines for name in modules if (lines := templates(SOURCES[name])[1])}
    assert unread == {}


def hidden_words(tree):
    """The words in f-strings of a module."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    texts = [part.value for node in found for part in node.values if isinstance(part, ast.Constant)]
    return {word for text in texts for word in re.findall(r"(?<!_)[A-Za-z]{2,}", text)}


def test_no_f_string_hides_a_word():
    hidden = {
        name: words for name, tree in SOURCES.items() if (words := hidden_words(tree) - NAMES)
    }
    assert hidden == {}


def test_no_sentence_stands_outside_of_what_is_said():
    outside = {name: texts for name, tree in SOURCES.items() if (texts := sentences_outside(tree))}
    assert outside == {}


def sentences_outside(tree):
    """The sentences of a module that are no template and no text of the engine."""
    said = {
        node.value
        for call in calls(tree, "say", "say_count", "told")
        for node in ast.walk(call)
        if isinstance(node, ast.Constant)
    }
    sentences = {text for text in phrases(tree) if re.search(r"[a-z]{2,} [a-z]+ [a-z]{2,}", text)}
    return sentences - said - TOLD.keys()


def test_exempt_modules_exist():
    assert ENGLISH - {path.name for path in REPORT.rglob("*.py")} == set()


@pytest.mark.parametrize(
    ("source", "found", "unread"),
    [
        ('say("a {b}", b=1)', {"a {b}"}, 0),
        ('say_count(n, "one", "many")', {"one", "many"}, 0),
        ('chain("; ", parts)', {"; "}, 0),
        ("say(template)", set(), 1),
        ('say("a" if x else "b")', set(), 1),
        ('say(f"a {b}")', set(), 1),
    ],
)
def test_the_reader_sees_what_is_said(source, found, unread):
    said, unknown = templates(ast.parse(source))
    assert (said, len(unknown)) == (found, unread)
