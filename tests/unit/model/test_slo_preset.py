"""Presets of SLOs: the limits of MLPerf, by their names."""

from __future__ import annotations

import pytest

from torr.errors import UsageError
from torr.model.condition import Condition
from torr.model.slo_preset import PRESETS, read_slos

# The 99th percentiles of TTFT and TPOT that MLPerf Inference allows, in milliseconds.
LIMITS = {
    "mlperf:llama2-70b:server": (2000, 200),
    "mlperf:llama2-70b:interactive": (450, 40),
    "mlperf:llama3.1-405b:server": (6000, 175),
    "mlperf:llama3.1-405b:interactive": (4500, 80),
    "mlperf:llama3.1-8b:server": (2000, 100),
    "mlperf:llama3.1-8b:interactive": (500, 30),
    "mlperf:deepseek-r1:server": (2000, 80),
    "mlperf:deepseek-r1:interactive": (1500, 15),
    "mlperf:gpt-oss-120b:server": (3000, 80),
    "mlperf:gpt-oss-120b:interactive": (2000, 20),
    "mlperf:mixtral:server": (2000, 200),
}


@pytest.mark.parametrize(("preset", "limits"), LIMITS.items())
def test_a_preset_stands_for_the_limits_of_its_benchmark(preset, limits):
    ttft, tpot = read_slos(preset)
    assert (ttft, tpot) == (
        Condition("ttft", "p99", "<=", limits[0]),
        Condition("tpot", "p99", "<=", limits[1]),
    )
    assert (ttft.preset, tpot.preset) == (preset, preset)


def test_there_are_no_others():
    assert set(PRESETS) == set(LIMITS)


def test_a_preset_may_be_about_one_request():
    found = read_slos(" POST /v1/chat/completions: mlperf:llama2-70b:server ")
    assert {slo.name for slo in found} == {"POST /v1/chat/completions"}
    assert str(found[0]) == "POST /v1/chat/completions: ttft p99 <= 2s"
    assert found[0].text == str(found[0])


@pytest.mark.parametrize(
    "preset", ["mlperf", "mlperf:", "mlperf:mixtral:interactive", "mlperf:llama2-70b:offline"]
)
def test_an_unknown_preset_names_those_that_exist(preset):
    with pytest.raises(UsageError, match="is not a preset of SLOs") as raised:
        read_slos(preset)
    assert raised.value.hint == f"presets are {', '.join(LIMITS)}"


def test_other_texts_are_conditions():
    assert read_slos("p95 < 500ms") == (Condition.parse("p95 < 500ms"),)
    assert read_slos("p95 < 500ms")[0].preset == ""
    with pytest.raises(UsageError, match="is not a condition"):
        read_slos("fast")
