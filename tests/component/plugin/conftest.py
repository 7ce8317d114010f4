"""pytest, started as a user would, over a file of tests that measure."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from textwrap import dedent

import pytest


@dataclass
class Ended:
    """How a pytest ended and what it said."""

    code: int
    out: str
    folder: object

    @property
    def counts(self):
        """How many tests passed, failed, or had an error."""
        last = self.out.strip().splitlines()[-1]
        return {word: int(n) for n, word in re.findall(r"(\d+) (\w+)", last)}

    @property
    def result(self):
        """The run that was kept."""
        return json.loads((self.folder / "_output/torr/latest/result.json").read_text())


@pytest.fixture
def pytests(tmp_path):
    """Run pytest over a source, in a directory and with a store of its own."""

    def run(source, *arguments):
        (tmp_path / "test_it.py").write_text(dedent(source))
        environment = {**os.environ, "TORR_STORE": f"sqlite:///{tmp_path}/runs.db"}
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *map(str, arguments)]
        ended = subprocess.run(
            [*command, "test_it.py"],
            cwd=tmp_path,
            env={**environment, "COLUMNS": "160"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        return Ended(ended.returncode, ended.stdout, tmp_path)

    return run
