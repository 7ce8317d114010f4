"""The fixture `leaks`: what fails, what is said of it, and what is kept."""

from __future__ import annotations

import pytest


def test_leaks_fail_with_what_grew_and_where(pytests):
    ended = pytests(
        """
        kept = []

        def test_leaks(leaks):
            leaks(lambda: kept.append([1]), n=1000)

        def test_within(leaks):
            found = leaks(lambda: kept.append([1]), n=1000, max_growth=5000)
            assert found.growth >= 990

        def test_clean(leaks):
            assert leaks(lambda: [1], n=1000).word == "no growth"
        """,
        *("--torr-save", "leaks"),
    )
    assert ended.counts == {"passed": 2, "failed": 1}
    assert "each operation leaves" in ended.out
    assert "builtins.list" in ended.out
    assert "test_it.py:5" in ended.out
    assert [each["word"] for each in ended.result["leaks"]] == [
        *("growth that goes on", "growth that goes on", "no growth")
    ]


LEAKS = """
    kept = []

    def test_endless(leaks):
        leaks(lambda: kept.append([1]), n=1000)

    def test_beyond(leaks):
        leaks(lambda: kept.append([1]), n=1000, max_growth=100)

    def test_within(leaks):
        leaks(lambda: kept.append([1]), n=1000, max_growth=5000)
"""


@pytest.mark.parametrize("budgets", ["fail", "report"])
def test_leaks_fail_whatever_becomes_of_budgets_since_nothing_of_them_is_timed(pytests, budgets):
    ended = pytests(LEAKS, "--torr-budgets", budgets, "--torr-save", "mine")
    assert (ended.code, ended.counts) == (1, {"failed": 2, "passed": 1})
    limits = [(each["limit"], each["met"]) for each in ended.result["leaks"]]
    assert limits == [(None, False), (100, False), (5000, True)]


def test_the_target_is_shown_and_the_page_begins_with_what_failed(pytests):
    ended = pytests(LEAKS, "--torr-save", "mine")
    rows = {
        line.split()[0].partition("::test_")[2]: line
        for line in ended.out.splitlines()
        if " objects ≤ " in line or " growth ends " in line
    }
    assert "missed" in rows["endless"]
    assert "objects ≤ +100 " in rows["beyond"]
    assert "missed" in rows["beyond"]
    assert "objects ≤ +5,000 " in rows["within"]
    assert " met " in rows["within"]
    text = (ended.folder / "_output/torr/latest/summary.md").read_text()
    assert "growth that goes on in test_it.py::test_endless; more left behind than may be" in text
    assert "test_it.py::test_within:" not in text


def test_what_an_operation_raises_ends_the_test(pytests):
    ended = pytests("def test_it(leaks): leaks(lambda: {}['key'], n=1000)")
    assert ended.counts == {"failed": 1}
    assert "KeyError: 'key'" in ended.out
