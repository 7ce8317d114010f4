"""`scripts/study.sh`: what it calls torr with, and what it says where it cannot."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

from documents import ROOT
from matrices import SCRIPT


@pytest.fixture
def study(tmp_path, environment):
    """Run the script with a torr that writes down how it is called, and ends with these codes."""
    environment("healthz")
    environment("proxy")
    environment("tuning")

    def run(*arguments, codes=(), levels=(), failures=(), **settings):
        torr = tmp_path / "torr"
        (tmp_path / "latest").mkdir(exist_ok=True)
        result = {"levels": levels, "failures": failures}
        (tmp_path / "latest" / "result.json").write_text(json.dumps(result))
        cases = "".join(f"*{name}*) exit {code} ;;\n" for name, code in codes)
        torr.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/calls\ncase "$2" in {cases} esac\n')
        torr.chmod(0o755)
        ended = subprocess.run(
            [SCRIPT, *arguments],
            env={**os.environ, "TORR": str(torr), "RUNS": str(tmp_path), **settings},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        calls = tmp_path / "calls"
        said = calls.read_text().splitlines() if calls.exists() else []
        return ended.returncode, [line.split() for line in said]

    return run


def test_all_matrices_of_a_study_are_run_with_the_flags_given(study):
    code, calls = study("proxy", "--plan")
    assert code == 0
    assert [call[:2] for call in calls] == [
        ["compare", "matrix.toml"],
        ["compare", "matrix-delay.toml"],
        ["compare", "matrix-log.toml"],
    ]
    assert {call[-1] for call in calls} == {"--plan"}


def test_tunings_are_run_before_comparisons(study):
    code, calls = study("tuning", "--plan")
    assert code == 0
    tunings = [["tune", f"tune-{name}.toml"] for name in ("llama", "nginx", "uvicorn")]
    matrices = sorted(path.name for path in (ROOT / "studies/tuning").glob("matrix*.toml"))
    assert matrices
    assert [call[:2] for call in calls] == [*tunings, *(["compare", name] for name in matrices)]


def test_short_runs_the_short_matrix_alone(study):
    code, calls = study("healthz", SHORT="1")
    assert (code, [call[1] for call in calls]) == (0, ["short.toml"])


def test_a_short_run_fails_where_a_candidate_never_came_to_its_load(study):
    cell, other = ({"connections": number} for number in (1, 2))
    levels = [{"candidate": "a", "factors": cell}, {"candidate": "b", "factors": other}]
    # Another round was measured.
    spoilt = {"text": "a: not ready", "candidate": "a", "factors": cell}
    lacking = {"text": "b: not found", "candidate": "b", "factors": cell}
    assert study("healthz", SHORT="1", levels=levels, failures=[spoilt])[0] == 0
    assert study("healthz", SHORT="1", levels=levels, failures=[spoilt, lacking])[0] == 3
    assert study("healthz", levels=levels, failures=[lacking])[0] == 0


def test_one_matrix_can_be_named(study):
    _, calls = study("proxy", "matrix-log.toml", "--resume", "DIR")
    assert [call[1] for call in calls] == ["matrix-log.toml"]
    assert calls[0][-2:] == ["--resume", "DIR"]


def test_the_worst_code_is_the_scripts_own_and_the_others_go_on(study):
    code, calls = study("proxy", codes=[("matrix.toml", 1), ("delay", 3)])
    assert (code, len(calls)) == (3, 3)


def test_ctrl_c_ends_them_all(study):
    code, calls = study("proxy", codes=[("matrix.toml", 130)])
    assert (code, len(calls)) == (130, 1)


def test_without_a_runtime_it_says_what_to_install(tmp_path):
    for program in ("bash", "dirname"):
        (tmp_path / program).symlink_to(shutil.which(program))
    ended = subprocess.run(
        [SCRIPT, "proxy"], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert "missing: node, which runs Express\n    try: apt-get install nodejs\n" in ended.stderr
    assert "missing: go, which builds servers\n" in ended.stderr


def test_a_study_that_there_is_not_is_refused_with_those_that_there_are():
    ended = subprocess.run([SCRIPT, "nginx"], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "litefs|proxy|healthz" in ended.stderr
