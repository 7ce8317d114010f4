"""What is said of results: none of it lacks Chinese words, none of these is left over or hidden."""

import ast
import re

import pytest

import messages
from spoken import REPORT, TORR, calls, calls_in, phrases, sources

# Pictures, formats of files, and what a terminal or a browser alone shows have English only.
ENGLISH = {
    *("comparison_figure.py", "dat.py", "diff_figure.py", "doctor.py"),
    *("flame_svg.py", "flat.py", "html.py", "junit.py", "view_ladder.py", "ladder_figure.py"),
    *("ladder_marks.py", "notebook.py", "step_summary.py", "stream_figure.py", "theme.py"),
}
# Names of the field and of formats: the same in every language.
NAMES = {"ms", "rms", "UTC", "torr"}


@pytest.fixture(scope="module")
def translated():
    """Return every module whose texts are said in each language, parsed, by its name."""
    return {name: tree for name, tree in sources().items() if name not in ENGLISH}


def hidden_words(tree):
    """The words in f-strings of a module."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    texts = [part.value for node in found for part in node.values if isinstance(part, ast.Constant)]
    return {word for text in texts for word in re.findall(r"(?<!_)[A-Za-z]{2,}", text)}


def test_no_f_string_hides_a_word(translated):
    hidden = {
        name: words for name, tree in translated.items() if (words := hidden_words(tree) - NAMES)
    }
    assert hidden == {}


def test_no_sentence_stands_outside_of_what_is_said(translated):
    coded = {text for key in messages.said().values() for text in key.english}
    outside = {
        name: texts
        for name, tree in translated.items()
        if (texts := sentences_outside(tree) - coded)
    }
    assert outside == {}


def sentences_outside(tree):
    """The sentences of a module that are no template."""
    said = {
        node.value
        for call in calls(tree, "say", "say_count", "message")
        for node in ast.walk(call)
        if isinstance(node, ast.Constant)
    }
    sentences = {text for text in phrases(tree) if re.search(r"[a-z]{2,} [a-z]+ [a-z]{2,}", text)}
    return sentences - said


def test_exempt_modules_exist():
    assert ENGLISH - {path.name for path in REPORT.rglob("*.py")} == set()


def test_no_sentence_of_torr_is_a_message_without_a_code():
    uncoded = {
        str(path.relative_to(TORR)): ast.unparse(call)
        for path in TORR.rglob("*.py")
        for call in calls_in(path, "Message", "from_object")
        if len(call.args) == 1 and is_written(call.args[0])
    }
    assert uncoded == {}


def is_written(node):
    """Whether an expression is a text that stands in the program."""
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value
    return bool(is_text) or isinstance(node, ast.JoinedStr)
