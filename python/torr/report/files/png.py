"""The pictures of a ladder, a diff, a comparison and a tuning as PNG files, fit for a slide.

Those of ladders and diffs have wrktest's names.
"""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

from torr.report.data import diff
from torr.report.data.comparison import Comparison
from torr.report.data.tuning_comparison import as_comparison
from torr.report.text import sentence, trust
from torr.report.view.view_ladder import LadderChart
from torr.store.atomic import replace_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from matplotlib.figure import Figure

    from torr.results.result import RunResult


def write_ladder(result: RunResult, directory: Path) -> list[Path]:
    """Write NAME_qps_ttlb.png and NAME_successrate.png of a ladder; of streams NAME_streams.png."""
    from torr.report.figures import ladder_figure, stream_figure

    shown = LadderChart.of(result)
    failures = replace(shown, title=sentence.success(result))
    pictures: dict[str, Callable[[], Figure | None]] = {
        "qps_ttlb": lambda: ladder_figure.qps_ttlb(shown),
        "successrate": lambda: ladder_figure.success(failures),
        "streams": lambda: stream_figure.panels(shown),
    }
    return _save_all(pictures, directory, f"{result.name}_", ".png")


def write_diff(result: RunResult, directory: Path) -> list[Path]:
    """Write A_B.qps.ttlb.diff.png and A_B.success_rate.diff.png of a diff."""
    from torr.report.figures import diff_figure

    sides = diff.sides(result)
    words = sentence.verdict(result), trust.trust(result)
    failures = sentence.success(result), words[1]
    pictures: dict[str, Callable[[], Figure]] = {
        "qps.ttlb": lambda: diff_figure.qps_ttlb(sides, words),
        "success_rate": lambda: diff_figure.success(sides, failures),
    }
    return _save_all(pictures, directory, f"{result.name}.", ".diff.png")


def write_comparison(result: RunResult, directory: Path) -> list[Path]:
    """Write NAME_compare.png of a comparison; nothing where no trial was measured."""
    from torr.report.figures import comparison_figure

    comparison = Comparison.of(result)
    words = sentence.verdict(result), f"{result.name}: {trust.trust(result)}"
    pictures = {"compare": lambda: comparison_figure.panels(comparison, words)}
    return _save_all(pictures, directory, f"{result.name}_", ".png")


def write_tuning(result: RunResult, directory: Path) -> list[Path]:
    """Write NAME_tune.png of a tuning: the finalists; nothing before the first look."""
    from torr.report.figures import comparison_figure

    if not result.tuning or not result.tuning.rounds:
        return []
    finalists = Comparison.of(as_comparison(result))
    words = sentence.verdict(result), f"{result.name}: {trust.trust(result)}"
    pictures = {"tune": lambda: comparison_figure.panels(finalists, words)}
    return _save_all(pictures, directory, f"{result.name}_", ".png")


def _save_all(
    pictures: Mapping[str, Callable[[], Figure | None]], directory: Path, before: str, after: str
) -> list[Path]:
    """Draw pictures that have something to draw, each into a file of its name; their paths."""
    saved = [_save(directory / f"{before}{name}{after}", pictures[name]) for name in pictures]
    return [path for path in saved if path is not None]


def _save(path: Path, draw: Callable[[], Figure | None]) -> Path | None:
    """Draw one picture; None where there is nothing to draw."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from torr.report.figures import theme

    with theme.style():
        figure = draw()
        if figure is None:
            return None
        FigureCanvasAgg(figure)
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=theme.DPI)
    replace_bytes(path, content.getvalue())
    return path
