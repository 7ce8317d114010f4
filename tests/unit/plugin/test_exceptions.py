"""What the terminal says of operations that raised."""

from __future__ import annotations

import typed
from timed import result, round_of
from torr.plugin import exceptions


def level(number=1, **counts):
    return typed.changed(
        round_of(number=number),
        reasons={f"raised.{name}": count for name, count in counts.items()},
        samples=[
            {"class": "check", "reason": f"raised.{name}", "detail": f"traceback\nof {name}"}
            for name in counts
        ],
    )


def lines(*levels):
    return list(exceptions.lines(result(levels=levels)))


NAME = "\ntest_cache.py::test_put: "


def test_of_many_classes_those_that_were_raised_most_are_told():
    counts = {"TypeError": 1, "OSError": 2, "ValueError": 3, "KeyError": 4_000}
    found = [line for line in lines(level(**counts)) if line.startswith(NAME)]
    assert found == [
        f"{NAME}KeyError × 4,000, the first of them:",
        f"{NAME}ValueError × 3, the first of them:",
        f"{NAME}OSError × 2, the first of them:",
        f"{NAME}1 class more",
    ]
    five = lines(level(**counts, IndexError=1))
    assert five[-1] == f"{NAME}2 classes more"


def test_a_class_has_the_errors_of_all_rounds_and_the_end_of_its_first_traceback():
    traceback = "\n".join(f"line {number}" for number in range(9))
    sample = {"class": "check", "reason": "raised.KeyError", "detail": traceback}
    first = typed.changed(level(KeyError=2), samples=[sample])
    later = typed.changed(level(2, KeyError=3), samples=[])
    assert lines(first, later) == [
        f"{NAME}KeyError × 5, the first of them:",
        *(f"  line {number}" for number in range(3, 9)),
    ]


def test_nothing_is_told_where_nothing_was_raised():
    assert lines(level(), level(2)) == []
