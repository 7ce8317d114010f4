"""The picture of a kept run: what a request costs each tool, at each number of connections.

    python benches/versus/picture.py benches/versus/runs/RUN.json

It carries a fingerprint of what it shows, which a test compares with the run that README names.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from torr.report.figures import theme
from torr.store.atomic import replace_bytes
from versus.places import ROOT
from versus.report import names
from versus.row import middle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PATH = ROOT / "docs/images/versus.png"
SHOWN = ("small-1", "small-64", "small-256", "small-1000")
Costs = list[tuple[str, float, float, float]]


def main() -> int:
    """Draws the picture of a run."""
    from io import BytesIO

    from matplotlib.backends.backend_agg import FigureCanvasAgg

    kept = json.loads(Path(sys.argv[1]).read_text())
    content = BytesIO()
    with theme.style():
        figure = draw(kept)
        FigureCanvasAgg(figure)
        source = {"Source": fingerprint(kept), "Software": None}
        figure.savefig(content, format="png", dpi=theme.DPI, metadata=source)
    replace_bytes(PATH, content.getvalue())
    return 0


def panels(kept: dict[str, Any]) -> dict[str, Costs]:
    """Return median, lowest and highest cost of each tool, for each row that is shown."""
    rows = [one for one in kept["rows"] if one["name"] in SHOWN]
    return {one["about"]: _costs(one) for one in rows}


def fingerprint(kept: dict[str, Any]) -> str:
    """Return what a picture of this run carries."""
    shown = {
        about: [(tool, f"{cost:.2f}") for tool, cost, *_ in found]
        for about, found in panels(kept).items()
    }
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()


def draw(kept: dict[str, Any]) -> Figure:
    """Return the figure: a panel for each number of connections, bars from zero."""
    found = panels(kept)
    down = (len(found) + 1) // 2
    width, height = 10.0, 1.2 + 2.7 * down
    fig = theme.figure(width, height)
    top = theme.headline(fig, _title(kept), _subtitle(kept))
    room = {"left": 1.05 / width, "right": 1 - 0.55 / width, "wspace": 0.38, "hspace": 0.42}
    edges = {"top": 1 - (top + 0.28) / height, "bottom": 0.55 / height}
    grid = fig.subplots(down, 2, squeeze=False, gridspec_kw={**room, **edges})
    axes = [ax for line in grid for ax in line]
    for ax, (about, costs) in zip(axes, found.items(), strict=False):
        _panel(ax, about, costs)
    for ax in axes[len(found) :]:
        ax.remove()
    for ax in axes[: len(found)][-2:]:
        ax.set_xlabel("client processor time per request, µs")
    return fig


def _panel(ax: Axes, about: str, costs: Costs) -> None:
    places = range(len(costs))
    highest = max(high for *_, high in costs)
    for place, (tool, cost, low, high) in zip(places, costs, strict=True):
        colour = {"torr": theme.BLUE, "bare": theme.PAPER}.get(tool, theme.GREY)
        hatch: dict[str, Any] = {"hatch": "////", "edgecolor": theme.GREY} if tool == "bare" else {}
        ax.barh(place, cost, height=0.66, color=colour, **hatch)
        ax.plot([low, high], [place, place], color=theme.INK, linewidth=1)
        weight = "bold" if tool == "torr" else "normal"
        at = high + highest * 0.015
        ax.text(at, place, f"{cost:,.1f}", va="center", size=8.5, weight=weight)
    ax.set_yticks(list(places), ["bare loop" if tool == "bare" else tool for tool, *_ in costs])
    ax.invert_yaxis()
    ax.grid(visible=False, axis="y")
    ax.grid(visible=True, axis="x")
    ax.set_xlim(0, highest * 1.12)
    ax.set_title(about, size=10, weight="bold")


def _costs(one: dict[str, Any]) -> Costs:
    found = []
    for tool in names(one):
        each = [shot["cpu_us"] for shot in one["shots"] if shot["tool"] == tool]
        found.append((tool, middle(one["shots"], tool, "cpu_us"), min(each), max(each)))
    return found


def _title(kept: dict[str, Any]) -> str:
    shown = {one["name"]: one for one in kept["rows"] if one["name"] in SHOWN}
    one = shown.get("small-64") or next(iter(shown.values()))
    costs = {tool: cost for tool, cost, *_ in _costs(one)}
    known = [f"{tool} {costs[tool]:.1f}" for tool in ("wrk", "oha", "k6") if tool in costs]
    beside = f" ({', '.join(known)})" if known else ""
    at = one["about"].rpartition(", ")[2]
    return f"At {at} a request costs torr {costs['torr']:.1f} µs of a core{beside}"


def _subtitle(kept: dict[str, Any]) -> str:
    host = kept["host"]
    return (
        f"{host['processor']}; client and nginx on a core each; medians of {kept['rounds']} "
        "interleaved rounds, lowest and highest as lines. The bare loop only sends and receives."
    )


if __name__ == "__main__":
    sys.exit(main())
