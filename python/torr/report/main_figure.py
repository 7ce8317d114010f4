"""The picture that answers the question of a result, as SVG, for where no script runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from torr.report import diff, micro, png
from torr.report.comparison import Comparison
from torr.report.micro_rows import Picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Result = Mapping[str, Any]
Draw = Callable[[float, float], "Figure | None"]


def inline(result: Result, size: tuple[float, float], prefix: str, label: str) -> str:
    """Return the picture as an `<svg>` element; nothing where there is nothing to draw.

    `size` is in inches, `prefix` keeps its ids apart from those of others, `label` is what a screen
    reader says of it.
    """
    from torr.report import svg, theme

    with theme.style():
        figure = _draw_of(result)(*size)
        return "" if figure is None else svg.inline(figure, prefix, label)


def _draw_of(result: Result) -> Draw:
    from torr.report import (
        comparison_figure,
        diff_figure,
        ladder_figure,
        micro_figure,
        run_figure,
    )

    if result["kind"] == "diff":
        sides = diff.sides(dict(result))
        return lambda width, height: diff_figure.panels(sides, width, height)
    if result["kind"] == "compare":
        found = Comparison.of(result)
        return lambda width, _: comparison_figure.panels(found, width)
    if result["kind"] == micro.KIND:
        rows = Picture.of(result)
        return lambda width, _: None if rows is None else micro_figure.panels(rows, width)
    if result["kind"] == "ladder" and result["levels"]:
        ladder = png.ladder(dict(result))
        return lambda width, height: ladder_figure.panels(ladder, width, height)
    return lambda width, height: run_figure.timeline(result["levels"], width, height)
