"""Results of schema 1 are read with the names of today, and lose nothing."""

import gzip
import json
from pathlib import Path

import pytest

import typed
from lost import lost
from torr.errors import ResultError
from torr.results import result
from torr.results.experiment import Experiment
from torr.results.level import Level
from torr.results.upgrade import upgraded

HERE = Path(__file__).parent
GOLDEN = HERE.parents[1] / "golden/recorded"

# The names of today by the key above and the old name: written down apart from the code under test.
TODAY = {
    ("budgets", "text"): "condition",
    ("connections", "asked"): "requested",
    ("health", "lag_limit_ms"): "scheduling_lag_limit_ms",
    ("health", "lag_ms"): "scheduling_lag_ms",
    ("health", "late_slices"): "late_intervals",
    ("health", "slices"): "intervals",
    ("histograms", "lag"): "scheduling_lag",
    ("histograms", "wait"): "queue_wait",
    ("latency", "lag_ms"): "scheduling_lag_ms",
    ("latency", "wait_ms"): "queue_wait_ms",
    ("leaks", "looks"): "samples",
    ("leaks", "places"): "locations",
    ("levels", "front"): "fired_by",
    ("levels", "slices"): "intervals",
    ("levels", "steps"): "requests",
    ("lines", "place"): "location",
    ("plan", "slice_ns"): "interval_ns",
    ("points", "limited"): "generator_limited",
    ("prompts", "given"): "provided",
    ("stream", "left"): "abandoned",
    ("stream", "tokens_untold"): "tokens_unreported",
}


def of_today(value, above=""):
    """Return JSON of schema 1 with the names of today."""
    if isinstance(value, list):
        return [of_today(each, above) for each in value]
    if not isinstance(value, dict):
        return value
    return {TODAY.get((above, key), key): of_today(each, key) for key, each in value.items()}


def kept_results():
    """Return the kept results of schema 1, by what they are of."""
    small = {path.stem: path.read_text() for path in (HERE / "schema_1").glob("*.json")}
    recorded = {
        path.name.partition(".")[0]: json.loads(gzip.decompress(path.read_bytes()))["result"]
        for path in GOLDEN.glob("*.json.gz")
    }
    return small | {name: json.dumps(found) for name, found in recorded.items() if found}


KEPT = kept_results()


def test_there_is_a_kept_result_of_each_kind():
    kinds = {json.loads(text)["kind"] for text in KEPT.values()}
    assert kinds == {"run", "ladder", "compare", "diff", "locust", "micro"}


def test_kept_results_have_every_old_name_but_those_that_are_tested_below():
    seen = set()

    def walk(value, above=""):
        if isinstance(value, dict):
            for key, each in value.items():
                seen.add((above, key))
                walk(each, key)
        elif isinstance(value, list):
            for each in value:
                walk(each, above)

    for text in KEPT.values():
        walk(json.loads(text))
    assert TODAY.keys() - seen == {("lines", "place")}


def test_a_profiled_line_of_schema_1_has_a_location():
    old = {"profiles": [{"lines": [{"place": "it.py:2", "hits": 3}]}]}
    assert upgraded(old, result.RunResult) == of_today(old)


@pytest.mark.parametrize("name", KEPT)
def test_a_result_of_schema_1_loses_nothing(name):
    old = json.loads(KEPT[name])
    assert old["schema"] == 1
    written = json.loads(result.encoded(result.decoded(KEPT[name].encode(), "it")))
    for level in old["levels"]:
        if level.get("monitor") == {}:
            level["monitor"] = None
    old["experiment"] = {
        key: value
        for key, value in (old.get("experiment") or {}).items()
        if key == "pin" or value not in (None, False, [], {})
    }
    assert list(lost({**of_today(old), "schema": 2}, written)) == []


@pytest.mark.parametrize("name", KEPT)
def test_what_was_read_once_is_read_again_as_it_is(name):
    first = result.encoded(result.decoded(KEPT[name].encode(), "it"))
    assert result.encoded(result.decoded(first, "it")) == first


def test_a_result_of_schema_1_may_have_no_experiment():
    text = json.dumps({**json.loads(KEPT["run"]), "experiment": None})
    assert result.decoded(text.encode(), "it").experiment == Experiment()


def test_a_result_of_schema_1_that_is_broken_is_refused_with_its_place():
    broken = {**json.loads(KEPT["run"]), "levels": [{"concurrency": "many"}]}
    with pytest.raises(ResultError, match=r"levels\[0\]\.concurrency"):
        result.decoded(json.dumps(broken).encode(), "it")


@pytest.mark.parametrize("value", [None, 5, "text", [], {"connections": 5, "histograms": []}])
def test_values_that_fit_no_type_stay_as_they_are(value):
    assert upgraded(value, Level) == value


def test_a_leak_table_without_met_is_met_unless_growth_goes_on():
    old = {"candidate": "f", "count": 1, "looks": [], "places": []}
    words = {"no growth": True, "growth that ends": True, "growth that goes on": False}
    tables = upgraded({"leaks": [{**old, "word": word} for word in words]}, result.RunResult)
    assert [table["met"] for table in tables["leaks"]] == list(words.values())


def test_limits_of_schema_1_have_the_words_of_conditions():
    old = {"metric": "ok_per_s", "condition": "ok/s < -5%"}
    limits = [{**old, "word": word} for word in ("failed", "passed", "not shown")]
    read = upgraded({"fail_if": limits}, result.RunResult)
    assert [limit["word"] for limit in read["fail_if"]] == ["broken", "held", "not shown"]


def test_a_new_result_is_not_renamed():
    level = typed.level(histograms={"lag": "x"})
    text = result.encoded(typed.result(levels=[level]))
    assert result.decoded(text, "it").levels[0].histograms == {"lag": "x"}
