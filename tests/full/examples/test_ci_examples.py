"""What users put into their CI: the syntax of its files, and that their commands are understood."""

from __future__ import annotations

import json
import shlex
import subprocess
from xml.etree import ElementTree as ET

import pytest
import yaml

from documents import ROOT
from installed import TORR

CI = ROOT / "examples" / "ci"


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


def commands():
    return [shlex.split(script.replace("\\\n", " "))[1:] for script in scripts("github.yml")[-2:]]


def ran(folder, command):
    return subprocess.run([TORR, *command], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """A checkout with its base branch beside it, in which the first command ran."""
    folder = tmp_path_factory.mktemp("checkout")
    for place in ("perf", "base"):
        (folder / place).mkdir()
    (folder / "perf/compare.toml").write_text((CI / "compare.toml").read_text())
    quick = ["--rounds", "6", "-z", "300ms", "--warmup", "100ms"]
    return folder, ran(folder, [*commands()[0], *quick])


def test_both_branches_are_compared_in_rounds(compared):
    folder, ended = compared
    suite = ET.parse(folder / "compare.xml").getroot()  # noqa: S314 - made right here
    assert suite.get("name") == "torr compare branches"
    assert "base → branch" in {case.get("classname") for case in suite}
    found = json.loads((folder / "_output/torr/latest/result.json").read_text())
    assert found["kind"] == "compare"
    # How the load went is the machine's: what it says is what the exit code says.
    assert ended.returncode == int(suite.get("failures") != "0"), ended.stderr


@pytest.mark.parametrize(("factor", "code"), [(1, 0), (2, 1)])
def test_a_branch_that_is_surely_slower_fails_its_limits(compared, tmp_path, factor, code):
    folder, _ = compared
    kept = tmp_path / "_output/torr/branches"
    kept.mkdir(parents=True)
    (kept.parent / "latest").symlink_to("branches")
    found = json.loads((folder / "_output/torr/latest/result.json").read_text())
    made = [
        trial(found["levels"][0], name, number, number * 0.001 + slower)
        for number in range(1, 7)
        for name, slower in (("base", 1), ("branch", factor))
    ]
    (kept / "result.json").write_text(json.dumps({**found, "levels": made, "failures": []}))
    ended = ran(tmp_path, commands()[1])
    assert ended.returncode == code, ended.stderr
    limits = [
        (case.get("name"), case.find("failure") is not None)
        for case in ET.parse(tmp_path / "diff.xml").getroot()  # noqa: S314 - made right here
        if "%" in case.get("name")
    ]
    assert limits == [("p99 > +10% at 32", code == 1), ("ok/s < -5% at 32", code == 1)]


def trial(level, name, number, milliseconds):
    """A trial of so many milliseconds a response, in the form of one that was measured."""
    latency = {
        kind: {**(stats or {}), "n": 1000, "p50": milliseconds, "p99": milliseconds}
        for kind, stats in level["latency"].items()
    }
    counts = {"planned": 1000, "attempted": 1000, "ok": 1000, "dropped": 0, "in_flight": 0}
    return {
        **level,
        "candidate": name,
        "round": number,
        "counts": {**counts, "errors": {}},
        "starved": 0,
        "cut_short": False,
        "ok_per_s": 32_000 / milliseconds,
        "success_rate": 100.0,
        "latency": latency,
        "health": {"verdict": "healthy", "reasons": []},
    }
