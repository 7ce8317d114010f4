"""A kept run as Markdown: which bars hold, and what every tool did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from versus.row import middle
from versus.tools import FAR

if TYPE_CHECKING:
    from collections.abc import Sequence

Kept = dict[str, Any]


def page(kept: Kept) -> str:
    """Return the whole run: host, versions, bars, one table for each comparison."""
    lines = [
        f"# torr against other tools, {kept['host']['started']}",
        "",
        _how(kept),
        "",
        " · ".join(f"{name} {version}" for name, version in kept["versions"].items()),
        "",
        *_absent(kept["left_out"]),
        summary(kept),
        "",
        "## Bars",
        "",
        bars(kept["rows"]),
    ]
    for one in kept["rows"]:
        if names(one):
            lines += ["", f"## {one['about']}", "", tools(one), *_absent(one["left_out"])]
    return "\n".join(lines).rstrip() + "\n"


def _how(kept: Kept) -> str:
    host = kept["host"]
    return (
        f"{host['processor']}, {host['cores']} cores, Linux {host['kernel']}; client and target on "
        f"a core each. {kept['rounds']} rounds, shots of {kept['seconds']} s, a second less for "
        f"{', '.join(FAR)}."
    )


def row(one: Kept) -> str:
    """Return one row, as it is shown while the others are measured."""
    lines = [f"\n{one['name']}: {one['about']} ({one['took_s']:.0f} s)", ""]
    lines += [tools(one), ""] if names(one) else []
    lines += [bars([one]), ""] if one["bars"] else []
    return "\n".join([*lines, *_absent(one["left_out"])])


def summary(kept: Kept) -> str:
    """Return how many bars hold, and which do not, by how much."""
    judged = [(one, bar) for one in kept["rows"] for bar in one["bars"]]
    missed = [
        f"{one['name']} {bar['name']} by {bar['missed_by']:.0%}"
        for one, bar in judged
        if not bar["held"]
    ]
    said = [f"{len(judged) - len(missed)} of {len(judged)} bars hold."]
    said += [f"Missed: {'; '.join(missed)}."] if missed else []
    unknown = [f"{one['name']} ({reason})" for one, reason in not_measured(kept)]
    said += [f"Not measured: {'; '.join(unknown)}."] if unknown else []
    return " ".join(said)


def not_measured(kept: Kept) -> list[tuple[Kept, str]]:
    """Return the rows in which torr itself could not do what is asked, and why."""
    return [
        (one, reason)
        for one in kept["rows"]
        for name, reason in one["left_out"].items()
        if name.startswith("torr")
    ]


def bars(rows: Sequence[Kept]) -> str:
    """Return the bars of some rows as a table."""
    lines = [
        "| row | figure | median | lowest … highest | rounds | bar | holds | beside it |",
        "| --- | --- | ---: | ---: | ---: | ---: | --- | --- |",
    ]
    for one in rows:
        for bar in one["bars"]:
            unit = "" if bar["unit"] == "×" else f" {bar['unit']}"
            held = "yes" if bar["held"] else f"**no**, by {bar['missed_by']:.0%}"
            lines.append(
                f"| {one['name']} | {bar['name']} | {number(bar['value'])}{unit} "
                f"| {number(bar['low'])} … {number(bar['high'])} | {bar['rounds']} "
                f"| {bar['sense']} {number(bar['limit'])}{unit} | {held} | {bar['note']} |"
            )
    return "\n".join(lines)


def number(value: float) -> str:
    """Return three digits of a figure, or all of its whole ones."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def names(one: Kept) -> list[str]:
    """Return the tools of a comparison, cheapest first; none where a row compares no tools."""
    found = {shot["tool"] for shot in one["shots"] if "cpu_us" in shot}
    return sorted(found, key=lambda name: middle(one["shots"], name, "cpu_us"))


def tools(one: Kept) -> str:
    """Return what every tool of a row did as a table."""
    late = any("p99_us" in shot for shot in one["shots"])
    heads = ["tool", "CPU a request", "lowest … highest", "requests/s", "client", "target"]
    heads += ["failed", *(["late p50", "late p99"] if late else [])]
    lines = [_line(heads), _line(["---", *["---:"] * (len(heads) - 1)])]
    for name in names(one):
        shots = [shot for shot in one["shots"] if shot["tool"] == name]
        costs = [shot["cpu_us"] for shot in shots]
        cells = [
            name,
            f"{middle(shots, name, 'cpu_us'):.2f} µs",
            f"{min(costs):.2f} … {max(costs):.2f}",
            f"{middle(shots, name, 'per_s'):,.0f}",
            f"{middle(shots, name, 'client_core'):.0%}",
            f"{middle(shots, name, 'target_core'):.0%}",
            f"{sum(shot['failed'] for shot in shots):,}",
        ]
        if late:
            cells += [f"{middle(shots, name, key):,.1f} µs" for key in ("p50_us", "p99_us")]
        lines.append(_line(cells))
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _absent(left_out: dict[str, str]) -> list[str]:
    lines = [f"left out: {name} ({reason})" for name, reason in left_out.items()]
    return ["", *lines, ""] if lines else []
