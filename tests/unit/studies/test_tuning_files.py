"""What the tunings of the studies promise: enough settings, and less than an hour each."""

from __future__ import annotations

import re

import pytest

from documents import schema
from matrices import STUDIES
from torr.engine import read_toml
from torr.experiments.tuning_time import TRIALS_OF_DEFAULT
from torr.options.tune import TuneOptions
from torr.planning.tuning import TunePlan
from torr.sources.tune_file import read_tune_file

FILES = sorted(STUDIES.glob("*/tune*.toml"))
LEAST_SETTINGS = 24
MOST_S = 60 * 60


def test_there_are_three():
    assert [path.stem for path in FILES] == ["tune-llama", "tune-nginx", "tune-uvicorn"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_tuning_has_enough_settings_and_trials(path):
    schema("tune").validate(read_toml(path.read_text())[0])
    tuning = TunePlan.of(read_tune_file(path), TuneOptions())
    assert len(tuning.file.settings) >= LEAST_SETTINGS
    least, most = tuning.procedure.budget.all_trials
    assert most * tuning.trial_s <= MOST_S
    # What its comment says is what --plan estimates.
    (minutes,) = re.findall(r"About (\d+) minutes", path.read_text())
    estimate = (least + most + 2 * TRIALS_OF_DEFAULT) / 2 * tuning.trial_s / 60
    assert int(minutes) == pytest.approx(estimate, abs=1)
