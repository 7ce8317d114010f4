"""The figures as a Markdown table."""

from __future__ import annotations

from typing import Any


def table(figures: list[dict[str, Any]]) -> str:
    """One row a figure: median, spread, bar, and whether it is met."""
    lines = [
        "| figure | median | min … max | bar | met | beside it |",
        "| --- | ---: | ---: | ---: | --- | --- |",
    ]
    for one in figures:
        unit = one["unit"]
        lines.append(
            f"| {one['name']} | {one['value']:.3g} {unit} | {one['low']:.3g} … {one['high']:.3g} "
            f"| ≤ {one['bar']:g} {unit} | {'yes' if one['within'] else '**no**'} | {one['note']} |"
        )
    return "\n".join(lines)
