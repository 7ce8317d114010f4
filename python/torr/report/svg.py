"""A figure as SVG inside a page: its colours become the page's, light or dark; its points get tips.

Colours of `theme` turn into CSS variables, ids get a prefix so that several pictures can share a
page, and a line whose gid starts with `tips:` gives one of its texts to each of its markers.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from matplotlib import rc_context
from matplotlib.backends.backend_svg import FigureCanvasSVG

from torr.report import theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_HREF = f"{{{_XLINK}}}href"

VARIABLES = {
    theme.INK: "--ink",
    theme.MUTED: "--muted",
    theme.GRID: "--grid",
    theme.PAPER: "--paper",
    theme.BLUE: "--blue",
    theme.ORANGE: "--orange",
    theme.GREEN: "--green",
    theme.PURPLE: "--purple",
    theme.GREY: "--grey",
    theme.BAND: "--band",
}
_COLOUR = re.compile("|".join(VARIABLES))


def inline(figure: Figure, prefix: str, label: str) -> str:
    """Return the figure as an `<svg>` element; `label` is what a screen reader says of it."""
    root = ET.fromstring(_draw(figure, prefix))  # noqa: S314 - drawn a line above, not read
    for metadata in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(metadata)
    _unstyle(root)
    for element in root.iter():
        _tip(element)
        _own(element, prefix)
    for size in ("width", "height", "version"):
        root.attrib.pop(size, None)
    root.set("role", "img")
    root.set("aria-label", label)
    ET.register_namespace("", _SVG)
    ET.register_namespace("xlink", _XLINK)
    return ET.tostring(root, encoding="unicode")


def _draw(figure: Figure, prefix: str) -> bytes:
    FigureCanvasSVG(figure)
    content = io.BytesIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with rc_context({"svg.hashsalt": prefix}):
        figure.savefig(content, format="svg", metadata=nothing)
    return content.getvalue()


def _unstyle(root: ET.Element) -> None:
    """A style sheet inside a picture would hold for the whole page: it becomes attributes."""
    for parent in list(root.iter()):
        for sheet in parent.findall(f"{{{_SVG}}}style"):
            parent.remove(sheet)
    root.attrib |= {"stroke-linejoin": "round", "stroke-linecap": "butt"}


def _tip(element: ET.Element) -> None:
    gid = element.get("id", "")
    if not gid.startswith("tips:"):
        return
    tips = gid.removeprefix("tips:").split("|")
    markers = element.iter(f"{{{_SVG}}}use")
    for marker, tip in zip(markers, tips, strict=False):
        ET.SubElement(marker, f"{{{_SVG}}}title").text = tip
    del element.attrib["id"]


def _own(element: ET.Element, prefix: str) -> None:
    for key, value in list(element.attrib.items()):
        if key == "id":
            element.set(key, f"{prefix}-{value}")
        elif key == _HREF:
            element.set(key, value.replace("#", f"#{prefix}-", 1))
        elif key in ("style", "clip-path", "fill", "stroke"):
            text = value.replace("url(#", f"url(#{prefix}-").replace("'DejaVu Sans'", "inherit")
            element.set(key, _COLOUR.sub(lambda found: f"var({VARIABLES[found[0]]})", text))
