"""Each verb works in a process that has imported nothing before: others tests fork a warm one."""

from __future__ import annotations

import json
import os

import pytest

from candidates import GOOD

LOAD = ("--requests", "20", "--warmup", "0s", "--timeout", "30s")


@pytest.fixture
def cold(judged_torr, own_store):  # noqa: ARG001 - for the environment
    """Start the installed `torr` and return its output; it must end with 0."""

    def started(*arguments):
        ended = judged_torr(*arguments, env=dict(os.environ))
        assert ended.code == 0, ended.err
        return ended.out

    return started


def test_a_run_and_a_ladder_are_kept_and_compared(cold, steady):
    assert "stored  as run" in cold("run", "-n", "first", "-c", "2", *LOAD, steady.url)
    assert "second" in cold(
        "ladder", "-n", "second", "--levels", "1,2", "-z", "200ms", "--warmup", "0s", steady.url
    )
    # The newest run of a name is the first one in the list.
    kept = [row.split() for row in reversed(cold("runs", "list").splitlines()[1:])]
    ids = {name: number for number, _, _, name, *_ in kept}
    assert ids.keys() == {"first", "second"}
    assert "first" in cold("diff", ids["first"], ids["second"])


def test_servers_are_compared(cold, matrix, tmp_path):
    cold("compare", matrix({"one": GOOD, "two": GOOD}))
    result = json.loads((tmp_path / "_output/torr/latest/result.json").read_text())
    assert {level["candidate"] for level in result["levels"]} == {"one", "two"}


@pytest.mark.full
def test_the_doctor_measures_this_machine(cold):
    assert cold("doctor", "-q").startswith("This machine can generate about ")
