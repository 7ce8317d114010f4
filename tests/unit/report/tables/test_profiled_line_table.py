"""The table of lines of a function."""

from __future__ import annotations

import typed
from torr.report.tables import profiled_line_table

PROFILE = typed.profile(
    tool="line-profiler",
    candidate="tests/test_it.py::test_outer",
    lines=[
        {"location": "it.py:2", "code": "for x in xs:", "hits": 1001, "ns": 250_000},
        {"location": "it.py:3", "code": "f(x)", "hits": 1000, "ns": 750_000},
        {"location": "it.py:4", "code": "return", "hits": 0, "ns": 0},
    ],
)


def tables_of(*profiles):
    return list(profiled_line_table.tables(typed.result(kind="micro", profiles=profiles)))


def test_each_line_has_its_share_in_the_order_of_the_source():
    ((title, table),) = tables_of(PROFILE)
    assert title == "Lines by time, by line-profiler: test_it.py::test_outer"
    assert table.rows == (
        ("it.py:2", "for x in xs:", "1,001", "0.250 ms", "250 ns", "25 %"),
        ("it.py:3", "f(x)", "1,000", "0.750 ms", "750 ns", "75 %"),
        ("it.py:4", "return", "0", "0 ms", "–", "0 %"),
    )


def test_titles_tell_the_parameters_of_a_test():
    profiles = [typed.changed(PROFILE, factors={"size": size}) for size in (1, 2)]
    titles = [title for title, _ in tables_of(*profiles)]
    assert titles == [
        f"Lines by time, by line-profiler: test_it.py::test_outer [size {size}]" for size in (1, 2)
    ]


def test_a_title_says_which_of_two_files_of_one_name_it_is_about():
    other = typed.changed(PROFILE, candidate="more/test_it.py::test_outer")
    titles = [title for title, _ in tables_of(PROFILE, other)]
    assert [title.rpartition(" ")[2] for title in titles] == [
        *("tests/test_it.py::test_outer", "more/test_it.py::test_outer")
    ]


def test_profiles_of_another_kind_have_none():
    assert tables_of(typed.profile(tool="py-spy")) == []
