"""The budgets of the tiers stand in CONTRIBUTING.md as scripts/test_times.py checks them."""

from __future__ import annotations

import re

from documents import ROOT
from test_times import BUDGETS_S


def test_budgets_are_those_of_the_table():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    rows = re.findall(r"^\| (\w+): .*\| ([\d.]+) minutes \|$", text, re.MULTILINE)
    assert {tier: float(minutes) * 60 for tier, minutes in rows} == BUDGETS_S
