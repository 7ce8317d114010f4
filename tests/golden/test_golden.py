"""What people and programs read of the runs in `cases.py` is what it was.

A difference that is wanted is kept by `pytest tests/golden --golden-update`, and read in the diff.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cases import CASES
from replay import replayed

EXPECTED = Path(__file__).parent / "expected"


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_run_says_what_it_said(case, tmp_path, monkeypatch, capsys, request):
    seen = replayed(case, tmp_path, monkeypatch, capsys.readouterr)
    place = EXPECTED / case.name
    if request.config.getoption("golden_update", default=False):
        place.mkdir(parents=True, exist_ok=True)
        for path in place.iterdir():
            path.unlink()
        for name, text in seen.items():
            (place / name).write_text(text)
    expected = {path.name: path.read_text() for path in place.iterdir()}
    assert seen.keys() == expected.keys()
    for name, text in seen.items():
        assert text == expected[name], f"{name} differs"
