"""What does not pass: an SLO or a limit that is broken, or that is not shown."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from doubles import Truth

ENOUGH, FEW = Truth(ok_per_s=1000), Truth(ok_per_s=1)
LIMITED = Truth(health="generator-limited")
SLO = 'slo = ["success >= 99.9%"]\n'


def failures_of(path):
    suite = ET.parse(path).getroot()  # noqa: S314 - written by torr
    return [part.get("message") for case in suite for part in case.iter("failure")]


def test_a_comparison_passes_where_every_slo_of_every_candidate_is_held(compare):
    ended = compare(lambda _name: ENOUGH, SLO, "-q")
    assert (ended.code, ended.err) == (0, "")


def test_a_comparison_with_an_slo_that_is_not_shown_passes_only_where_that_is_allowed(
    compare, tmp_path
):
    def few_answers(name):
        return FEW if name == "two" else ENOUGH

    why = (
        "SLO not shown: two at 50 connections: success >= 99.9% (no error in 10 attempts is not "
        "enough: 3,000 are needed): neither held nor broken"
    )
    ended = compare(few_answers, SLO, "-q", "--junit", "ci.xml")
    assert ended.code == 1
    assert ended.err.startswith(f"torr: {why}\nhint: measure more, such as --rounds 20 or -z 30s")
    assert "--allow-not-shown" in ended.err
    assert failures_of(tmp_path / "ci.xml") == [why]
    ended = compare(few_answers, SLO, "-q", "--junit", "ci.xml", "--allow-not-shown")
    assert (ended.code, ended.err) == (0, f"note: {why}\n")
    assert failures_of(tmp_path / "ci.xml") == []


@pytest.mark.parametrize("flags", [(), ("--allow-not-shown",)])
def test_a_comparison_whose_trials_the_generator_limited_shows_no_slo(compare, flags):
    ended = compare(lambda _name: LIMITED, SLO, "-q", *flags)
    assert ended.code == 1
    assert "at 50 connections: success >= 99.9% (the generator was the limit)" in ended.err
    assert "give it more room" in ended.err


def test_a_comparison_whose_attempts_fail_passes_no_time_that_is_not_shown(compare):
    failing = Truth(ok_per_s=1, errors={"status": 1})
    ended = compare(lambda _name: failing, 'slo = ["p99.99 < 1s"]\n', "-q", "--allow-not-shown")
    assert ended.code == 1
    assert "p99.99 < 1s (" in ended.err
    assert "and 1 of 11 attempts failed" in ended.err


@pytest.mark.parametrize(
    ("top", "flags", "passed"),
    [
        (SLO, (), False),
        (SLO, ("--allow-not-shown",), True),
        ("", (), True),
    ],
)
def test_a_kept_comparison_passes_as_it_did_when_it_was_made(compare, top, flags, passed):
    import torr

    assert compare(lambda _name: FEW, top, "-q", *flags).code == (0 if passed else 1)
    assert torr.load("_output/torr/latest").passed == passed
