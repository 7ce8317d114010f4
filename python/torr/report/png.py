"""The pictures of a ladder and of a diff as PNG files, under wrktest's names, fit for a slide."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torr.model.condition import Condition
from torr.report import diff, plateau, sentence, trust
from torr.stats.series import Series
from torr.store.atomic import replace_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from torr.report.findings import Finding
    from torr.report.ladder_marks import Ladder


def write_ladder(result: dict[str, Any], directory: Path) -> list[Path]:
    """Write NAME_qps_ttlb.png and NAME_successrate.png of a ladder."""
    from torr.report import ladder_figure

    name = result["name"]
    shown = ladder(result)
    failures = replace(shown, title=sentence.success(result))
    return [
        _save(directory / f"{name}_qps_ttlb.png", lambda: ladder_figure.qps_ttlb(shown)),
        _save(directory / f"{name}_successrate.png", lambda: ladder_figure.success(failures)),
    ]


def write_diff(result: dict[str, Any], directory: Path) -> list[Path]:
    """Write A_B.qps.ttlb.diff.png and A_B.success_rate.diff.png of a diff."""
    from torr.report import diff_figure

    name = result["name"]
    sides = diff.sides(result)
    words = sentence.verdict(result), trust.trust(result)
    failures = sentence.success(result), words[1]
    return [
        _save(directory / f"{name}.qps.ttlb.diff.png", lambda: diff_figure.qps_ttlb(sides, words)),
        _save(
            directory / f"{name}.success_rate.diff.png",
            lambda: diff_figure.success(sides, failures),
        ),
    ]


def ladder(result: dict[str, Any]) -> Ladder:
    """Return what the pictures of a ladder's result show."""
    from torr.report.ladder_marks import Ladder

    series = Series.of(result["name"], result["levels"])
    return Ladder(
        series=series,
        title=sentence.verdict(result),
        subtitle=f"{result['name']}: {trust.trust(result)}",
        findings=tuple(_findings(result.get("capacity") or {}, series)),
        slos=conditions(result),
    )


def _findings(capacity: dict[str, Any], series: Series) -> Iterator[Finding]:
    from torr.report.findings import Finding

    peak, knee, slo = (capacity.get(key) for key in ("peak", "knee", "slo"))
    if peak:
        start = peak["concurrency"]
        on = f"peak from {start:,} on"
        words = on if plateau.goes_on(peak, series) else f"peak: {plateau.spans(peak, series)}"
        yield Finding(start, words, "peak")
    if knee:
        yield Finding(knee["concurrency"], f"knee: {knee['concurrency']:,}", "knee")
    if slo:
        words = f"capacity under SLO: {slo['concurrency']:,}"
        yield Finding(slo["concurrency"], words, "capacity")


def conditions(result: dict[str, Any]) -> tuple[Condition, ...]:
    """Return the SLOs that a result was judged by, each once."""
    texts = [verdict.get("condition") for verdict in result.get("verdicts") or ()]
    return tuple(Condition.parse(text) for text in dict.fromkeys(texts) if text)


def _save(path: Path, draw: Callable[[], Figure]) -> Path:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from torr.report import theme

    with theme.style():
        figure = draw()
        FigureCanvasAgg(figure)
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=theme.DPI)
    replace_bytes(path, content.getvalue())
    return path
