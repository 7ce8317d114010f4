"""Every exit code is documented, and has a command that is tested to end with it."""

from __future__ import annotations

import re

from documents import ROOT
from exit_codes import ENDS
from torr import errors
from torr.errors import ExitCode


def test_every_code_has_a_row_in_the_documentation():
    page = (ROOT / "docs/reference/exit-codes.md").read_text(encoding="utf-8")
    rows = [int(code) for code in re.findall(r"^\| (\d+) \| \S", page, re.MULTILINE)]
    assert rows == [int(code) for code in ExitCode]
    assert set(errors.ENDS) == set(ExitCode)


def test_every_code_has_a_command_that_is_tested_to_end_with_it():
    assert {end.code for end in ENDS.values()} == set(ExitCode)
