"""The command: Locust's help and messages, and errors without a usable Locust."""

from __future__ import annotations

import subprocess
import sys

import pytest

# What Python does where Locust is not installed.
HIDING = """
from importlib import util
find = util.find_spec
util.find_spec = lambda name, *more: None if name == "locust" else find(name, *more)
from torr.cli.main import main
main(["locust", "-f", "locustfile.py"])
"""


def test_help_is_that_of_locust_with_the_options_of_torr(start):
    out, err = start("locust", "--help").communicate(timeout=60)
    assert "Usage: locust" in out, err
    assert "--torr-out DIR" in out
    assert "--headless" in out


def test_a_missing_file_is_refused_in_the_words_of_locust(start):
    process = start("locust", "-f", "missing.py")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Could not find 'missing.py'" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("flags", "has"),
    [((), "LocalRunner has numpy rich sqlalchemy"), (("--processes", "1"), "WorkerRunner has")],
)
def test_nothing_large_is_imported_before_the_load_but_what_the_end_needs(
    locust, tmp_path, flags, has
):
    store = f"sqlite:///{tmp_path}/runs.db"
    arguments = ("-u", "1", "-t", "1s", *flags)
    ended = locust("locustfile_imports", *arguments, is_cold=True, TORR_STORE=store)
    assert has in ended.out.splitlines(), ended.err


def test_without_locust_it_says_how_to_get_it():
    ended = subprocess.run(
        [sys.executable, "-c", HIDING], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 2
    assert ended.stderr == "torr: torr locust needs Locust: pip install 'torr[locust]'\n"


LACKING = """
import locust.stats
del locust.stats.StatsEntry._cache_response_times
from torr.cli.main import main
main(["locust", "-f", "missing.py"])
"""


def test_a_locust_that_torr_does_not_know_is_refused_before_anything_starts():
    ended = subprocess.run(
        [sys.executable, "-c", LACKING], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 2
    assert "locust.stats.StatsEntry._cache_response_times is missing" in ended.stderr
    assert "hint: pip install 'torr[locust]' 'locust>=" in ended.stderr
