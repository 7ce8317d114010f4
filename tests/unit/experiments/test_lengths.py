"""The level says whether responses had the number of tokens that was asked for."""

from __future__ import annotations

import pytest

import typed
from torr.experiments.lengths import with_length_check
from torr.model.pace import Closed
from torr.model.plan import Duration, Group, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.model.stream import Stream


def plan(output_tokens):
    stream = Stream("openai", output_tokens=output_tokens)
    request = Request("http://127.0.0.1:9/", stream=stream)
    group = Group(Closed(1), Source.of(request))
    return Plan((group,), Duration(10**9))


def checked(check, requested=9):
    level = typed.level(stream={"length_check": check}, counts={"attempted": 8, "ok": 8})
    return with_length_check(level, plan(requested))


def test_responses_of_another_length_are_a_warning_with_their_share():
    level = checked({"checked": 8, "different": 2})
    assert level.stream.length_check.requested == 9
    (warning,) = level.warnings
    assert warning.code == "warning.length_differs"
    assert "2 of 8 responses (25.0 %) do not have the 9 output tokens" in warning


def test_lengths_that_were_kept_are_no_warning():
    level = checked({"checked": 8, "different": 0})
    assert (level.stream.length_check.requested, level.warnings) == (9, [])


def test_what_the_server_does_not_report_is_not_called_kept():
    (warning,) = checked(None).warnings
    assert warning.code == "warning.length_unknown"


@pytest.mark.parametrize("check", [None, {"checked": 8, "different": 2}])
def test_nothing_is_said_where_no_length_was_asked_for(check):
    assert checked(check, requested=None).warnings == []
