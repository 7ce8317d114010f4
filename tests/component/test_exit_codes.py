"""Every exit code: a command that ends with it."""

from __future__ import annotations

import os
import resource

import pytest

from compared import pair
from exit_codes import ENDS
from installed import Ended, free_port, wait_until
from torr.results.result import encoded

# Python imports this at its start: one function of torr raises what torr cannot explain.
FAULT = """\
import {module} as module

def broken(*arguments, **settings):
    raise ZeroDivisionError("made by a test")

module.allowed_cores = broken
"""


@pytest.fixture
def call(torr, judged_torr, start, tmp_path):
    """Make a command end as a row of the table says."""

    def called(end, arguments):
        if end.fault is not None:
            return torr(*arguments, env=faulty(end.fault, tmp_path / "fault"))
        if end.descriptors is not None:
            most = (end.descriptors, end.descriptors)
            limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, most)  # noqa: E731
            return torr(*arguments, preexec_fn=limit)
        if end.signal is None:
            return judged_torr(*arguments)
        process = start(*arguments)
        intervals = "_output/torr/*/intervals.jsonl"
        wait_until(lambda: any(path.read_text() for path in tmp_path.glob(intervals)))
        process.send_signal(end.signal)
        out, err = process.communicate(timeout=120)
        return Ended(process.returncode, out, err, tmp_path)

    return called


@pytest.mark.parametrize("name", ENDS)
def test_a_command_ends_with_its_code(name, call, target, tmp_path):
    end = ENDS[name]
    if end.arguments[0] == "diff":
        kept = tmp_path / "_output/torr/pair"
        kept.mkdir(parents=True)
        (kept / "result.json").write_bytes(encoded(pair(0.88)))
    url = target(*end.target).url if end.target else f"http://127.0.0.1:{free_port()}/"
    ended = call(end, [word.format(url=url) for word in end.arguments])
    assert ended.code == end.code, ended.err
    assert end.said in ended.err
    end.leaves(ended)


def faulty(module, place):
    """Return an environment in which a function of a module of torr raises."""
    place.mkdir()
    (place / "sitecustomize.py").write_text(FAULT.format(module=module))
    path = os.pathsep.join(filter(None, [str(place), os.getenv("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path}
