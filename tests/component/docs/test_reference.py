"""Every key and file of a result is described."""

import csv
import json
import re

import pytest

from documents import ROOT
from installed import until_judged
from torr.results import base, capacity, level, monitor, serving

METRICS = (ROOT / "docs/reference/metrics.md").read_text(encoding="utf-8")
FILES = (ROOT / "docs/reference/files.md").read_text(encoding="utf-8")

QUICK = ("-z", "200ms", "--warmup", "0s")

# What a response, a server or a machine calls itself, not torr.
NAMES_OF_OTHERS = {"statuses", "reasons", "errors", "histograms", "factors", "monitor", "values"}

PARTS = (
    *(base.Statistics, level.AttemptCounts, level.LatencyOfAll, level.ErrorSample),
    *(level.ConnectionCounts, level.Health, level.GeneratorCost, level.WarmUp),
    *(monitor.MonitorSeries, monitor.CoreSeries, monitor.ProcessSeries, monitor.NetworkSeries),
    *(monitor.PressureSeries, monitor.EndpointSamples, monitor.EndpointSeries, monitor.WindowUsage),
    *(serving.ServingSeries, serving.ServingUsage, serving.ServingSamples),
    *(capacity.Peak, capacity.Knee, capacity.SloCapacity, capacity.Capacity),
)


def named(text):
    """Everything that a page has in backticks."""
    return set(re.findall(r"`([^`\s]+)`", text))


def keys(part):
    """Every key of a JSON value, but those that are data."""
    if isinstance(part, list):
        return set().union(*(keys(item) for item in part))
    if not isinstance(part, dict):
        return set()
    inner = (keys(value) for key, value in part.items() if key not in NAMES_OF_OTHERS)
    return set(part).union(*inner)


@pytest.fixture(scope="module")
def kept(laddered):
    return json.loads((laddered / "_output/torr/latest/result.json").read_text())


def test_every_key_of_a_level_is_defined(kept):
    assert not keys(kept["levels"]) - named(METRICS)


def test_every_key_of_a_capacity_is_defined(kept):
    assert not keys(kept["capacity"]) - named(METRICS)


@pytest.mark.parametrize("part", PARTS)
def test_every_field_of_the_model_is_defined(part):
    assert not set(part.__struct_encode_fields__) - named(METRICS)


def test_every_key_of_a_verdict_is_defined(place, url, torr_in):
    load = ("-c", "2", "--requests", "500", "--warmup", "0s")
    run = ["run", "-o", "json", "--slo", "p50 < 10s", *load, url]
    ended = until_judged(lambda: torr_in(place, *run), place)
    assert ended.code == 0, ended.err
    assert not keys(json.loads(ended.out)["verdicts"]) - named(METRICS)


def test_every_key_of_the_result_is_described(kept):
    assert not set(kept) - named(FILES)


def test_every_file_of_a_run_is_described(laddered):
    output = laddered / "_output/torr"
    files = {path.name for path in (*output.iterdir(), *(output / "latest").iterdir())}
    unnamed = {name for name in files if name not in FILES}
    assert {re.sub(r"-\d{8}-\d{6}$", "", name) for name in unnamed} == {"before"}


def test_the_files_of_a_diff_are_described(place, torr_in):
    diff = ["diff", "-o", "json", "_output/torr/before.dat", "_output/torr/after.dat"]
    ended = torr_in(place, *diff)
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert not set(found) - named(FILES)
    assert not keys(found["verdicts"]) - named(METRICS)
    (folder,) = (place / "_output/torr").glob("before_after-*")
    files = {path.name for path in folder.iterdir()}
    assert {name.replace("before_after", "A_B") for name in files} <= set(named(FILES))


def test_the_columns_of_both_logs_are_described(place, url, torr_in):
    run = ["run", "--requests", "3", "--warmup", "0s", "--log", "seen.csv", url]
    serve = ["target", "delay", "--log", "truth.csv", "--for", "10ms"]
    for arguments in (run, serve):
        ended = torr_in(place, *arguments)
        assert ended.code == 0, ended.err
    for name in ("seen.csv", "truth.csv"):
        with (place / name).open(newline="") as file:
            assert not set(next(csv.reader(file))) - named(FILES)
