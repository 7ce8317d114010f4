"""The charts of a tuning: its finalists as a comparison, its search by parameter."""

import pytest

from torr.report.files import markdown
from torr.report.view import view_tuning
from torr.report.view.view import view
from tuned import SETTINGS, tuned


@pytest.fixture(scope="module")
def result():
    return tuned()


def test_finalists_are_compared_with_the_default(result):
    drawn = view(result)["comparison"]
    (place,) = drawn["places"]
    names = [entry["name"]["en"] for entry in place["entries"]]
    assert names == ["champion", "runner-up 1", "runner-up 2", "default"]
    assert drawn["baseline"]["en"] == "default"
    assert [entry["standing"] for entry in place["entries"][:3]] == ["better"] * 3
    assert all(len(entry["rounds"]) == 10 for entry in place["entries"])


def test_the_search_has_a_dot_for_each_setting_in_each_group(result):
    search = view_tuning.search(result)
    assert len(search["dots"]) == len(SETTINGS) - 2
    assert sum(dot["is_finalist"] for dot in search["dots"]) == 3
    assert sum(dot["is_recommended"] for dot in search["dots"]) == 1
    for group in search["groups"]:
        dots = [dot for row in group["rows"] for dot in row["dots"]]
        assert sorted(dots) == list(range(len(search["dots"])))
    workers, gc, pool = search["groups"][1:]
    assert [len(row["dots"]) for row in workers["rows"]] == [2, 4]
    assert [row["name"] for row in gc["rows"]] == ["true", "false"]
    assert [len(row["dots"]) for row in pool["rows"]] == [2, 2, 2]


def test_every_dot_and_tick_is_on_the_axis(result):
    search = view_tuning.search(result)
    low, high = search["limits"]
    assert all(low < dot["at"] < high for dot in search["dots"])
    assert 2 <= len(search["marks"]) <= 6
    assert all(low <= at <= high for at, _ in search["marks"])


def test_a_search_of_equal_numbers_has_an_axis():
    assert view_tuning._limits([100.0, 100.0]) == pytest.approx((90, 110))


def test_other_kinds_and_tunings_without_a_trial_have_no_search():
    assert view_tuning.search(tuned(until=0)) is None
    assert view(tuned(until=0))["comparison"] is None


def test_the_summary_has_verdict_finalists_and_command(result):
    text = markdown.text(result)
    assert "**workers 4, gc false, pool 16 is at least 3 % faster than the default: 278" in text
    assert "## Finalists, in fresh rounds" in text
    assert "serve --port '{port}' --workers 4" in text
    assert "## Settings that are out" in text
    assert "## The search: estimates without a verdict" in text


def test_the_page_of_an_unfinished_tuning_says_so():
    sentence = view(tuned(until=12))["sentence"]
    shown = sentence if isinstance(sentence, str) else sentence["en"]
    assert shown == "No verdict yet, after 12 trials: the search is not over."
