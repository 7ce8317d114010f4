"""What the matrices of the studies promise: that verdicts are possible, and the same servers."""

from __future__ import annotations

import math
import re

import pytest

from matrices import NAMES, STUDIES, candidates, names, read
from torr.planning.comparison_preview import AROUND_A_TRIAL_S
from torr.planning.matrix import Plans
from torr.sources.matrix_file import read_matrix_file
from torr.units import SECOND_NS

MOST_S = 90 * 60

ALL = [(study, name) for study in NAMES for name in names(study)]
FULL = [(study, name) for study, name in ALL if name != "short.toml"]


def cells(matrix):
    return math.prod(len(values) for values in matrix["factors"].values())


@pytest.mark.parametrize(("study", "name"), ALL)
def test_a_matrix_has_a_baseline_among_candidates_of_different_names(study, name):
    matrix = read(study, name)
    found = [each["name"] for each in candidates(matrix)]
    assert len(set(found)) == len(found) > 1
    assert matrix["baseline"] in found


@pytest.mark.parametrize(("study", "name"), ALL)
def test_all_candidates_of_a_matrix_are_expected_to_answer_the_same(study, name):
    bodies = {each["expect"]["body"] for each in candidates(read(study, name))}
    assert len(bodies) == 1


@pytest.mark.parametrize(("study", "name"), ALL)
def test_every_placeholder_is_one_of_the_trial_or_a_factor(study, name):
    matrix = read(study, name)
    known = {"port", "processes", "scratch", *matrix["factors"]}
    for each in candidates(matrix):
        texts = [*each["command"], each["url"], *each.get("env", {}).values()]
        assert {key for text in texts for key in re.findall(r"{(\w+)}", text)} <= known


@pytest.mark.parametrize(("study", "name"), FULL)
def test_the_rounds_of_a_full_matrix_suffice_for_a_verdict(study, name):
    matrix = read(study, name)
    family = cells(matrix) * (len(matrix["candidates"]) - 1)
    assert matrix["rounds"] >= max(6, 1 + math.log2(family / 0.05))


@pytest.mark.parametrize("study", NAMES)
def test_a_full_study_takes_no_longer_than_an_hour_and_a_half(study):
    planned = [seconds_of(study, name) for of_study, name in FULL if of_study == study]
    assert planned
    assert sum(planned) <= MOST_S


def seconds_of(study, name):
    """How long a matrix takes by its plan, with the rounds that are not counted."""
    file = read_matrix_file(STUDIES / study / name)
    plans = Plans(file, {}, {})
    around = AROUND_A_TRIAL_S + file.pause_ns / SECOND_NS
    round_s = sum(
        plans.of(candidate, factors, "http://127.0.0.1:1/").seconds + around
        for factors in file.cells()
        for candidate in file.candidates
    )
    return round_s * (file.rounds + 1)


@pytest.mark.parametrize("study", NAMES)
def test_the_matrices_of_a_study_are_of_the_same_servers(study):
    lists = [read(study, name)["candidates"] for name in names(study)]
    assert len(lists) > 1
    assert all(each == lists[0] for each in lists)


@pytest.mark.parametrize("path", ["litefs/requirements.txt", "proxy/package-lock.json"])
def test_pins_have_hashes_and_name_no_registry(path):
    text = (STUDIES / path).read_text()
    assert "resolved" not in text
    assert not re.search(r"index-url|registry|://pypi", text)
    pins = re.findall(r'^\S+==\S+|^    "node_modules/', text, re.MULTILINE)
    assert len(pins) > 10
    assert len(re.findall(r"--hash=sha256:|\"integrity\": \"sha512-", text)) >= len(pins)
