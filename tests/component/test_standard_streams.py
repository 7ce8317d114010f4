"""A standard stream that is closed, full or not read costs what is printed, and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
from functools import partial

import pytest

from installed import TORR, until_judged

QUICK = ("--warmup", "0s", "-c", "4")


def closed_pipe():
    """A pipe that nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


def full_disk():
    return os.open("/dev/full", os.O_WRONLY)


STREAMS = {"closed pipe": closed_pipe, "full disk": full_disk}


@pytest.fixture
def call(tmp_path):
    """Call the installed `torr` with an output that cannot be written; return its end."""

    def called(*arguments, out=None, shut=()):
        stream = subprocess.PIPE if out is None else STREAMS[out]()
        run = partial(
            subprocess.run,
            [TORR, *map(str, arguments)],
            stdout=stream,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            timeout=120,
            check=False,
            preexec_fn=lambda: [os.close(number) for number in shut],
        )
        try:
            return until_judged(run, tmp_path)
        finally:
            if out is not None:
                os.close(stream)

    return called


def result_of(folder):
    return json.loads((folder / "_output/torr/latest/result.json").read_text())


VERDICTS = {0: "p99 < 10m", 1: "p99 < 1us"}


@pytest.mark.parametrize("out", STREAMS)
@pytest.mark.parametrize("code", VERDICTS)
def test_the_exit_code_is_the_verdict_and_every_file_is_there(call, steady, tmp_path, out, code):
    flags = (*QUICK, "--requests", 2000, "--slo", VERDICTS[code], "--junit", "junit.xml")
    ended = call("run", *flags, steady.url, out=out)
    assert ended.returncode == code, ended.stderr
    assert "Traceback" not in ended.stderr
    assert (tmp_path / "junit.xml").exists()
    assert (tmp_path / "_output/torr/latest/report.html").exists()
    assert result_of(tmp_path)["status"] == "complete"
    is_said = "stdout cannot be written: No space left on device" in ended.stderr
    assert is_said == (out == "full disk" and code == 0)


def test_streams_that_are_closed_from_the_start_lose_nothing_and_get_nothing_of_a_file(
    call, steady, tmp_path
):
    ended = call("run", *QUICK, "--requests", 50, steady.url, shut=(0, 1, 2))
    assert ended.returncode == 0
    assert result_of(tmp_path)["levels"][0]["counts"]["ok"] == 50
    # A file that had the number of a standard stream would have what is written to that.
    lines = (tmp_path / "_output/torr/latest/intervals.jsonl").read_text().splitlines()
    assert lines
    assert all(json.loads(line)["seconds"] for line in lines)


@pytest.mark.parametrize("shut", [(1,), (2,), (0, 1, 2)])
def test_the_version_ends_well_without_its_streams(call, shut):
    assert call("--version", shut=shut).returncode == 0


def test_a_command_whose_result_is_its_output_fails_when_that_is_lost(call):
    ended = call("target", "--help", out="full disk")
    assert ended.returncode == 2
    assert ended.stderr == "torr: stdout cannot be written: No space left on device\n"
    assert call("target", "--help", out="closed pipe").returncode == 0
