"""flame.svg: each flame graph as a picture of its own, callers above what they call.

It needs no script, no font and no host. The tooltip of a box has its whole name and weight. The
page has the same graphs, to zoom and to search.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import count, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from torr.messages.say import Language, render
from torr.report.files.xml_text import xml_text
from torr.report.tables import flame_table
from torr.store.atomic import replace_bytes
from torr.units import show_ms, show_percent, show_size

if TYPE_CHECKING:
    from torr.model.json import JsonObject
    from torr.results.result import RunResult


_WIDTH, _ROW, _MARGIN, _LINE = 1200, 18, 10, 22
_FONT, _LETTER = 'font-family="monospace" font-size="11"', 6.7
_FEWEST_LETTERS = 3
_LEAST = 0.0008
# A difference below half a point is drawn as none.
_STILL = 0.005
# Those of theme.py, mixed with paper; that one brings matplotlib along.
_PAPER, _INK, _PLAIN = "#ffffff", "#1b1f24", "#9cc9e4"
_MORE, _LESS, _SAME = ("#ecb78c", "+ "), ("#8cc0dc", "− "), ("#dfe3e8", "")


class _Box(NamedTuple):
    node: JsonObject
    depth: int
    start: float
    share: float


def write(result: RunResult, directory: Path, language: Language = "en") -> list[Path]:
    """Write flame.svg, flame-2.svg and so on of a result: as many as it has flame graphs."""
    paths = []
    for number, flame in enumerate(flame_table.flames(result), 1):
        paths.append(directory / _name(number))
        replace_bytes(paths[-1], text(flame, language).encode())
    return paths


def written(directory: Path) -> list[Path]:
    """Return the flame graphs of a directory, in their order."""
    return list(takewhile(Path.exists, (directory / _name(number) for number in count(1))))


def text(flame: JsonObject, language: Language = "en") -> str:
    """Return one of the `flames` of a result as SVG."""
    boxes = list(_boxes(flame["tree"]))
    heads = list(_heads(flame, language))
    top = _MARGIN + _LINE * len(heads)
    rows = 1 + max(box.depth for box in boxes)
    width, height = _WIDTH + 2 * _MARGIN, top + rows * _ROW + _MARGIN
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {_FONT} fill="{_INK}">',
        f'<rect width="100%" height="100%" fill="{_PAPER}"/>',
        *(_headed(head, line) for line, head in enumerate(heads, 1)),
        *(_drawn(box, flame, top) for box in boxes),
        "</svg>\n",
    ]
    return "\n".join(lines)


def _headed(head: str, line: int) -> str:
    font = f'font-family="sans-serif" font-size="{14 if line == 1 else 11}"'
    return f'<text x="{_MARGIN}" y="{_LINE * line}" {font}>{_clean(head)}</text>'


def _name(number: int) -> str:
    return "flame.svg" if number == 1 else f"flame-{number}.svg"


def _heads(flame: JsonObject, language: Language) -> Iterator[str]:
    """Return the title, and a key to the colours where there is a baseline."""
    title = flame["title"]
    yield title if isinstance(title, str) else title[language]
    if flame["beside"] is not None:
        yield render(flame_table.colours(flame["beside"]), language)


def _boxes(root: JsonObject) -> Iterator[_Box]:
    """Return every function in its place, as wide as its share, unless it is too narrow."""
    whole = root["weight"] or 1
    waiting = [_Box(root, 0, 0.0, root["weight"] / whole)]
    while waiting:
        box = waiting.pop()
        yield box
        at = box.start
        for node in box.node.get("below", ()):
            share = node["weight"] / whole
            if share >= _LEAST:
                waiting.append(_Box(node, box.depth + 1, at, share))
            at += share


def _drawn(box: _Box, flame: JsonObject, top: int) -> str:
    """Return a box that clips its name, which SVG cannot do with text alone."""
    colour, sign = _look(box)
    name, width = str(box.node["name"]), box.share * _WIDTH
    letters = int((width - 4) / _LETTER)
    shown = sign + name
    shown = shown if len(shown) <= letters else f"{shown[: letters - 1]}…"
    label = f'<text x="3" y="13">{_clean(shown)}</text>' if letters >= _FEWEST_LETTERS else ""
    place = f'x="{_MARGIN + box.start * _WIDTH:.2f}" y="{top + box.depth * _ROW}"'
    return (
        f'<svg {place} width="{width:.2f}" height="{_ROW - 1}">'
        f"<title>{_clean(_tooltip(box, flame))}</title>"
        f'<rect width="100%" height="100%" fill="{colour}" stroke="{_PAPER}" stroke-width="0.5"/>'
        f"{label}</svg>"
    )


def _look(box: _Box) -> tuple[str, str]:
    """Return the colour, and the sign before the name, which replaces it in black and white."""
    was = box.node.get("was")
    if was is None:
        return _PLAIN, ""
    if abs(box.share - was) < _STILL:
        return _SAME
    return _MORE if box.share > was else _LESS


def _tooltip(box: _Box, flame: JsonObject) -> str:
    weight, unit = box.node["weight"], flame["unit"]
    known = {"ns": lambda: show_ms(weight / 1e6), "bytes": lambda: show_size(weight)}
    amount = known[unit]() if unit in known else f"{weight:,.0f} {unit}"
    words = [str(box.node["name"]), amount, _percent(box.share)]
    if box.node.get("was") is not None:
        words.append(f"{flame['beside']}: {_percent(box.node['was'])}")
    return " · ".join(words)


def _percent(share: float) -> str:
    return show_percent(round(100 * share, 1))


def _clean(text: str) -> str:
    """Return text as XML can have it."""
    return escape(xml_text(text))
