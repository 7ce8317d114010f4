"""The fixture `leaks`: what fails, what is said of it, and what is kept."""

from __future__ import annotations

import pytest

SOURCE = """
    kept = []

    def test_endless(leaks):
        leaks(lambda: kept.append([1]), n=1000)

    def test_beyond(leaks):
        leaks(lambda: kept.append([1]), n=1000, max_growth=100)

    def test_within(leaks):
        found = leaks(lambda: kept.append([1]), n=1000, max_growth=5000)
        assert found.growth >= 990

    def test_clean(leaks):
        assert leaks(lambda: [1], n=1000).word == "no growth"

    def test_raises(leaks):
        leaks(lambda: {}['key'], n=1000)
"""


@pytest.fixture(scope="module")
def ended(sessions, module_folder):
    return sessions.run(module_folder, SOURCE, "--torr-save", "leaks")


def test_leaks_fail_with_what_grew_and_where(ended):
    assert (ended.code, ended.counts) == (1, {"passed": 2, "failed": 3})
    assert "each operation leaves" in ended.out
    assert "builtins.list" in ended.out
    assert "test_it.py:5" in ended.out


def test_what_an_operation_raises_ends_its_test_and_is_no_leak(ended):
    assert "KeyError: 'key'" in ended.out
    assert [(each["word"], each["limit"], each["met"]) for each in ended.result["leaks"]] == [
        ("growth that goes on", None, False),
        ("growth that goes on", 100, False),
        ("growth that goes on", 5000, True),
        ("no growth", None, True),
    ]


def test_the_limit_is_shown_and_the_page_begins_with_what_failed(ended):
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
    text = (ended.kept / "summary.md").read_text()
    assert (
        "growth that goes on in test_it.py::test_endless; more objects than max_growth allows"
        in text
    )
    assert "test_it.py::test_within:" not in text


def test_leaks_fail_where_budgets_are_only_reported_since_nothing_of_them_is_timed(pytests):
    ended = pytests(SOURCE, "--torr-budgets", "report")
    assert (ended.code, ended.counts) == (1, {"passed": 2, "failed": 3})
