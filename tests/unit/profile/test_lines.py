"""line-profiler: the lines of named functions, and no others."""

from __future__ import annotations

from functools import partial

import pytest

from torr.errors import UsageError
from torr.profile import lines


def doubled(values):
    found = []
    for value in values:
        found.append(2 * value)  # noqa: PERF401 - a line that runs often
    return found


class Adder:
    def add(self, value):
        return value + 1


def test_each_line_has_its_hits_and_its_time():
    found = lines.profile_lines(lambda: doubled(range(1_000)), [doubled])
    hits = {line.code: line.hits for line in found}
    assert hits["for value in values:"] == 1_001
    assert hits["return found"] == 1
    assert all(line.location.startswith("test_lines.py:") for line in found)
    numbers = [int(line.location.rpartition(":")[2]) for line in found]
    assert numbers == sorted(numbers)
    (often,) = (line for line in found if line.hits == 1_000)
    assert often.ns > 0


def test_methods_have_lines_too():
    adder = Adder()
    (line,) = lines.profile_lines(lambda: adder.add(1), [adder.add])
    assert (line.code, line.hits) == ("return value + 1", 1)


def test_a_partial_has_the_lines_of_what_it_calls():
    adding = partial(partial(Adder().add), 1)
    (line,) = lines.profile_lines(adding, [adding])
    assert (line.code, line.hits) == ("return value + 1", 1)


@pytest.mark.parametrize(
    ("function", "message"),
    [(len, "has no lines: it is not written in Python"), (doubled, "no line of these functions")],
)
def test_what_has_no_lines_is_said(function, message):
    with pytest.raises(UsageError, match=message):
        lines.profile_lines(lambda: None, [function])


def test_line_profiler_that_is_missing_is_said(monkeypatch):
    monkeypatch.setattr(lines, "find_spec", lambda _name: None)
    with pytest.raises(UsageError, match="needs line-profiler, which is not installed"):
        lines.profile_lines(list, [doubled])
