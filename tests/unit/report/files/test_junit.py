"""JUnit XML of runs and ladders: what fails there is what the exit code is about."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from torr.report.files import junit


def cases(result, why=None):
    suite = ET.fromstring(junit.text(result, why))  # noqa: S314 - made right here
    found = [(case.get("name"), [part.tag for part in case]) for case in suite]
    assert int(suite.get("tests")) == len(found)
    assert int(suite.get("failures")) == sum("failure" in tags for _, tags in found)
    return found


def test_above_the_lowest_level_a_ladder_looks_for_where_slos_break(make_level, make_result):
    levels = [make_level(5, 100.0, 9.0), make_level(10, 100.0, 90.0)]
    ladder = make_result("ladder", levels, ["p95 < 50ms"])
    assert cases(ladder) == [("p95 < 50ms at 5", []), ("p95 < 50ms at 10", ["system-out"])]
    ladder = make_result("ladder", levels, ["p95 < 5ms"])
    assert cases(ladder)[0] == ("p95 < 5ms at 5", ["failure"])


def test_what_else_a_run_did_not_pass_for_is_a_test_of_its_own(make_level, make_result):
    run = make_result("run", [make_level(5, 100.0, 9.0)], ["p50 < 1s"])
    why = "ended early by --abort-on 'errors > 5%'"
    assert cases(run, why) == [("p50 < 1s at 5", []), ("passes", ["failure"])]


def test_a_reason_that_a_test_has_already_is_not_said_twice(make_level, make_result):
    run = make_result("run", [make_level(5, 100.0, 9.0)], ["p95 < 1ms"])
    assert cases(run, "SLO broken: p95 < 1ms at 5") == [("p95 < 1ms at 5", ["failure"])]


def test_a_missed_capacity_beside_a_broken_slo_is_a_test_of_its_own(make_level, make_result):
    ladder = make_result("ladder", [make_level(5, 100.0, 9.0)], ["p95 < 1ms"])
    ladder.experiment.min_capacity = "6 users"
    found = cases(ladder, "SLO broken: p95 < 1ms; --min-capacity '6 users': missed")
    assert found == [("p95 < 1ms at 5", ["failure"]), ("passes", ["failure"])]


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\ud800", "\ufffe", "\uffff"])
def test_a_character_that_xml_has_not_is_replaced(make_level, make_result, character):
    run = make_result("run", [make_level(5, 100.0, 9.0)])
    suite = ET.fromstring(junit.text(run, f"a{character}中😀").encode())  # noqa: S314
    assert suite.find("testcase/failure").get("message") == "a\ufffd中😀"
