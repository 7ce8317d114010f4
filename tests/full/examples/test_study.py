"""The study of the ladders cites its kept runs truly."""

from __future__ import annotations

import json
import re
import subprocess
from statistics import median

import pytest

from documents import ROOT

PAGE = ROOT / "docs/studies/ladder-of-an-api-server.md"
KEPT = PAGE.parent / "ladder"
TEXT = PAGE.read_text()


def rounds_by_level(name):
    found = {}
    for level in json.loads((KEPT / name / "result.json").read_text())["levels"]:
        found.setdefault(level["concurrency"], []).append(level)
    return found


def rate(rounds):
    """The median rate as the page writes it: plain, a lower bound, or no claim."""
    verdicts = {level["health"]["verdict"] for level in rounds}
    number = f"{median(level['ok_per_s'] for level in rounds):,.0f}"
    if "generator-limited" in verdicts:
        return f"({number})"
    return f"≥ {number}" if "contended" in verdicts else number


def rows_after(heading):
    """The table below the line of its column names, as lists of words."""
    lines = TEXT[TEXT.index(heading) :].splitlines()[2:]
    table = lines[: lines.index("")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def test_the_table_of_rates_is_that_of_the_kept_ladders():
    names = ("bare", "bare-again", "logging", "quiet")
    ladders = [rounds_by_level(name) for name in names]
    expected = [
        [f"{level:,}", *(rate(ladder[level]) for ladder in ladders)] for level in ladders[0]
    ]
    assert rows_after(f"| connections | {' | '.join(names)} |") == expected


def test_the_table_of_the_proxy_is_that_of_the_kept_ladder():
    ladder = rounds_by_level("proxy")
    for row in rows_after("| connections | requests/s | mean ms |"):
        [level] = ladder[int(row[0].replace(",", ""))]
        mean = level["latency"]["service_ms"]["mean"]
        users = level["ok_per_s"] * mean / 1000
        waited = level["warmup"]["latency"]["service_ms"]["max"]
        assert row[1:] == [
            f"{level['ok_per_s']:,.0f}",
            f"{mean:.3g}",
            f"{level['success_rate']:.0f} %",
            f"{users:,.0f}",
            f"{level['starved']:,}",
            f"{waited:,.0f} ms",
        ]


@pytest.mark.parametrize(
    ("name", "baseline", "low", "high"),
    [
        ("logging", "bare", 0.60, 0.76),
        ("quiet", "bare", 0.91, 1.05),
        ("bare-again", "bare", 0.90, 1.05),
        ("quiet", "logging", 1.27, 1.52),
    ],
)
def test_a_ratio_is_that_of_the_levels_that_are_healthy_on_both_sides(name, baseline, low, high):
    ladder, below = rounds_by_level(name), rounds_by_level(baseline)
    ratios = [
        median(level["ok_per_s"] for level in ladder[users])
        / median(level["ok_per_s"] for level in below[users])
        for users in ladder
        if rate(ladder[users])[0].isdigit() and rate(below[users])[0].isdigit()
    ]
    assert (round(min(ratios), 2), round(max(ratios), 2)) == (low, high)
    assert f"{low:.2f}–{high:.2f}" in TEXT


def test_users_are_rate_times_time_where_the_page_says_so():
    for name in ("bare", "bare-again", "logging", "quiet"):
        for users, rounds in rounds_by_level(name).items():
            for level in rounds:
                mean_s = level["latency"]["service_ms"]["mean"] / 1000
                ratio = level["ok_per_s"] * mean_s / level["connections"]["open_max"]
                if users <= 20_000:
                    assert 0.9935 < ratio < 1.0075


def test_everything_that_the_page_points_to_is_there():
    links = re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert links
    for link in links:
        assert (PAGE.parent / link).exists(), link


def test_the_script_of_the_study_parses():
    subprocess.run(["bash", "-n", KEPT / "run.sh"], check=True)
