"""The step of GitHub Actions that others use, and the recipes of CI."""

from __future__ import annotations

import os
import subprocess
from itertools import pairwise

import pytest
import yaml

from installed import TORR
from reference import ROOT

SCRIPT = ROOT / "scripts/action.sh"


@pytest.fixture
def step(tmp_path):
    def step_(arguments):
        """Return the exit code, stdout and what the step leaves in GitHub's files."""
        outputs, summary = tmp_path / "outputs", tmp_path / "summary.md"
        environment = {
            "PATH": f"{TORR.parent}:{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "GITHUB_OUTPUT": str(outputs),
            "GITHUB_STEP_SUMMARY": str(summary),
            "TORR_PACKAGE": "",
            "TORR_ARGUMENTS": arguments,
            "TORR_DIRECTORY": "runs",
        }
        ended = subprocess.run(
            ["bash", SCRIPT],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        texts = [file.read_text() if file.exists() else "" for file in (outputs, summary)]
        return ended, *texts

    return step_


def test_a_step_runs_torr_and_leaves_report_summary_and_exit_code(step, url, tmp_path):
    load = f"run {url} --requests 20 --warmup 0s --name 'a b' --no-store"
    ended, outputs, summary = step(load)
    assert ended.returncode == 0, ended.stderr
    assert outputs == "exit-code=0\n"
    assert "requests/s" in summary
    assert len(list((tmp_path / "runs").glob("a b-*/report.html"))) == 1


def test_a_step_fails_as_torr_does_and_executes_nothing_else(step, url, tmp_path):
    load = f"run {url} --requests 20 --warmup 0s --no-store --slo 'p50 < 1ns' --name '$(touch x)'"
    ended, outputs, _ = step(load)
    assert (ended.returncode, outputs) == (1, "exit-code=1\n"), ended.stderr
    assert not (tmp_path / "x").exists()


def test_a_step_without_arguments_says_what_is_missing(step):
    ended, outputs, _ = step("")
    assert ended.returncode != 0
    assert "the command without torr" in ended.stderr
    assert outputs == ""


@pytest.mark.parametrize(
    "name",
    ["action.yml", ".github/workflows/ci.yml", ".github/workflows/release.yml", ".gitlab-ci.yml"],
)
def test_recipes_name_scripts_and_targets_that_exist(name):
    recipe = yaml.safe_load((ROOT / name).read_text())
    words = " ".join(texts(recipe)).replace("$GITHUB_ACTION_PATH/", "").replace('"', "").split()
    scripts = {word for word in words if word.startswith((".ci/", "scripts/"))}
    assert scripts or "make" in words
    assert all((ROOT / script).exists() for script in scripts)
    targets = {after for word, after in pairwise(words) if word == "make"}
    makefile = (ROOT / "Makefile").read_text()
    assert all(f"\n{target}:" in makefile for target in targets)


def texts(part):
    """Return the texts of a document."""
    if isinstance(part, dict):
        return [text for value in part.values() for text in texts(value)]
    if isinstance(part, list):
        return [text for value in part for text in texts(value)]
    return [str(part)]
