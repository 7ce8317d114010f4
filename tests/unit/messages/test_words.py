"""What is said of results: none of it lacks Chinese words, none of these is left over or hidden."""

import ast
import re

import messages
from spoken import REPORT, calls, phrases, sources

# Pictures, formats of files, and what a terminal or a browser alone shows have English only.
ENGLISH = {
    *("__init__.py", "csv.py", "dat.py", "diff.py", "doctor.py", "junit.py"),
    *("comparison.py", "comparison_figure.py", "comparison_rows.py", "comparison_scale.py"),
    *("diff_figure.py", "findings.py", "labels.py", "ladder_figure.py", "ladder_marks.py"),
    *("stream_figure.py", "theme.py", "step_summary.py", "png.py", "pooled.py"),
    *("notebook.py", "html.py", "plateau.py", "flame_svg.py", "flat.py"),
    "ladder_chart.py",
}
# Names of the field and of formats: the same in every language.
NAMES = {"ms", "rms", "UTC", "torr"}
SOURCES = {name: tree for name, tree in sources().items() if name not in ENGLISH}
CODED = {text for key in messages.said().values() for text in key.english}


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
    """The sentences of a module that are no template and no text of a code."""
    said = {
        node.value
        for call in calls(tree, "say", "say_count", "message")
        for node in ast.walk(call)
        if isinstance(node, ast.Constant)
    }
    sentences = {text for text in phrases(tree) if re.search(r"[a-z]{2,} [a-z]+ [a-z]{2,}", text)}
    return sentences - said - CODED


def test_exempt_modules_exist():
    assert ENGLISH - {path.name for path in REPORT.rglob("*.py")} == set()
