"""What lower floors and the engine write into results is known, in the words that they use."""

import ast
import json
import re

from spoken import ROOT, phrases
from spoken import TOLD as TOLD_FILE

TORR = ROOT / "python" / "torr"
TOLD = json.loads(TOLD_FILE.read_text())

PARTLY = ("experiments/tokens.py",)
ENGINE_PARTLY = (
    *("engine/src/kept.rs", "engine/src/goodput.rs", "engine/src/ledger/gathering.rs"),
    *("engine/src/run/coordinator.rs", "engine/src/run/standing.rs"),
)
_WORD = re.compile(r"[A-Za-z]{2,}")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_HOLE = re.compile(r"\{[^}]*\}")


def of_python(name):
    return phrases(ast.parse((TORR / name).read_text()))


def of_rust(name):
    source = (ROOT / "crates" / name).read_text().partition("#[cfg(test)]")[0]
    code = "\n".join(line for line in source.splitlines() if not line.strip().startswith("//"))
    return {_HOLE.sub("{}", text) for text in _STRING.findall(code)}


def sentences(texts):
    words = {text: [w for w in text.split() if _WORD.search(_HOLE.sub("", w))] for text in texts}
    return {text for text in texts if len(words[text]) >= 3}


def test_every_pattern_is_in_the_words_of_its_source():
    told = {text for name in PARTLY for text in of_python(name)}
    told |= {text for name in ENGINE_PARTLY for text in of_rust(name)}
    parts = {part for text in told for part in text.split("{}") if _WORD.search(part)}
    ordered = sorted(parts, key=len, reverse=True)
    assert {p: left for p in sentences(TOLD) if (left := left_of(p, ordered))} == {}


def left_of(pattern, parts):
    """The words of a pattern that no source has."""
    left = _HOLE.sub("{}", pattern)
    for part in parts:
        left = left.replace(part, " ")
    return _WORD.findall(left)


def test_translations_have_the_placeholders_of_their_patterns():
    holes = {pattern: sorted(_HOLE.findall(pattern)) for pattern in TOLD}
    differing = {p: w for p, w in TOLD.items() if sorted(_HOLE.findall(w)) != holes[p]}
    assert differing == {}


def test_no_pattern_would_take_any_text():
    assert [pattern for pattern in TOLD if not _WORD.search(_HOLE.sub("", pattern))] == []
