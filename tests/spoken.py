"""Reads the texts of reports from torr's source: templates, separators, f-strings."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TORR = ROOT / "python" / "torr"
REPORT = TORR / "report"
# The texts that a terminal shows of a result.
SHOWN = TORR / "cli" / "display"

_HOLE = re.compile(r"\{(\w*)[^}]*\}")
_FIELD = re.compile(r"\{[^}]*\}")


def sources():
    """Return every module of report/, and what a terminal shows, parsed, by its name."""
    paths = {path.name: path for path in sorted(REPORT.rglob("*.py"))}
    paths |= {f"cli/{path.name}": path for path in sorted(SHOWN.glob("*.py"))}
    paths |= {"say.py": TORR / "messages" / "say.py"}
    return {name: ast.parse(path.read_text()) for name, path in paths.items()}


def calls(tree, *names):
    """Return the calls of some functions in a module."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [call for call in nodes if isinstance(call.func, ast.Name) and call.func.id in names]


def calls_in(path, *names):
    """Return the calls of some functions in a file, which is parsed if it has one of the names."""
    text = path.read_text()
    return calls(ast.parse(text), *names) if any(name in text for name in names) else []


def fields(template):
    """Return the placeholders of a template, each with its format."""
    return sorted(_FIELD.findall(template))


def skeleton(text):
    """Return a text with every placeholder as `{}`."""
    return _HOLE.sub("{}", text)


def phrases(tree):
    """Return the texts of a module, f-strings with `{}` for their values; no docstrings."""
    nodes = list(ast.walk(tree))
    fstrings = [node for node in nodes if isinstance(node, ast.JoinedStr)]
    inside = {id(part) for node in fstrings for part in ast.walk(node) if part is not node}
    apart = inside | {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return {_skeleton_of(node) for node in fstrings} | {
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if id(node) not in apart
    }


def _skeleton_of(node):
    return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
