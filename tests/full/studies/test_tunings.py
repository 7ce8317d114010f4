"""The server of each tuning starts with the default, and gives the response that it expects."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress

import pytest

from installed import TORR
from matrices import SCRIPT, STUDIES

FILES = sorted(path.name for path in (STUDIES / "tuning").glob("tune*.toml"))


@pytest.mark.parametrize("file", FILES)
def test_the_default_is_measured_before_the_search(environment, tmp_path, file):
    with subprocess.Popen(
        [SCRIPT, "tuning", file, "--no-store", "--duration", "1s"],
        env=environment("tuning") | {"TORR": str(TORR), "RUNS": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            # After the two trials of the default, torr prints how long the tuning takes.
            assert any(" trials, about " in line for line in process.stdout)
            os.killpg(process.pid, signal.SIGINT)
            assert process.wait(60) == 130
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
