"""What users put into their CI: the syntax of its files, and that their commands are understood."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from installed import TORR

CI = Path(__file__).parents[2] / "examples" / "ci"


def scripts(name):
    found = yaml.safe_load((CI / name).read_text())
    if name == "github.yml":
        steps = found["jobs"]["performance"]["steps"]
        assert found[True] == "pull_request"  # YAML 1.1 reads `on` as a truth
        assert all(("uses" in step) != ("run" in step) for step in steps)
        return [step["run"] for step in steps if "run" in step]
    job = found["performance"]
    return [*job["before_script"], *job["script"]]


@pytest.mark.parametrize("name", ["github.yml", "gitlab.yml"])
def test_scripts_are_shell(name):
    for script in scripts(name):
        subprocess.run(["bash", "-n", "-c", script], check=True)


@pytest.mark.parametrize("name", ["github.yml", "gitlab.yml"])
def test_both_do_the_same(name):
    words = [shlex.split(script.replace("\\\n", " ")) for script in scripts(name)]
    commands = [" ".join(each[:2]) for each in words]
    assert commands == [
        *("pip install", "pytest perf", "git worktree", "torr compare", "torr diff")
    ]
    assert words[-1][-2:] == ["--junit", "diff.xml"]


def test_the_commands_do_what_they_say(tmp_path):
    """In a checkout whose base branch is the branch itself: nothing has become slower."""
    for place in ("perf", "base"):
        (tmp_path / place).mkdir()
    (tmp_path / "perf/compare.toml").write_text((CI / "compare.toml").read_text())
    compare, diff = (
        shlex.split(script.replace("\\\n", " ")) for script in scripts("github.yml")[-2:]
    )
    quick = ["--rounds", "6", "-z", "300ms", "--warmup", "100ms"]
    for command in ([*compare, *quick], diff):
        ended = subprocess.run(
            [TORR, *command[1:]], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        # How the load went is the machine's; that both were understood and went is the example's.
        is_busy = "no level that claims anything" in ended.stderr
        assert ended.returncode in (0, 1) or is_busy, ended.stderr
    assert "<testsuite" in (tmp_path / "compare.xml").read_text()
    found = json.loads((tmp_path / "_output/torr/latest/result.json").read_text())
    assert found["kind"] == ("compare" if is_busy else "diff")
