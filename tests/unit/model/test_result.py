import json

import jsonschema
import pytest

from documents import ROOT
from torr.errors import UsageError
from torr.model import result

SCHEMA = ROOT / "docs" / "reference" / "result.schema.json"

SMALLEST = {
    "schema": 1,
    "torr": "0.1.0",
    "kind": "run",
    "name": "apiserver",
    "started": "2026-01-31T12:00:00.000Z",
    "status": "complete",
    "levels": [
        {
            "concurrency": 200,
            "seconds": 10.0,
            "counts": {"planned": 3, "attempted": 3, "ok": 2, "errors": {"timeout": 1}},
            "ok_per_s": 0.2,
            "latency": {"service_ms": {"n": 2, "p50": 1.5, "p99": None}, "tls_ms": None},
            "samples": [{"class": "timeout", "detail": "no answer", "t_s": 0.1}],
            "health": {"verdict": "healthy"},
        }
    ],
}


def test_the_published_schema_is_fresh():
    assert SCHEMA.read_text(encoding="utf-8") == result.schema_text(), (
        "write it again: torr.model.result.write_schema"
    )


def test_the_smallest_result_satisfies_the_published_schema():
    jsonschema.validate(SMALLEST, json.loads(SCHEMA.read_text(encoding="utf-8")))


def test_reads_a_result_and_keeps_keys_it_does_not_know(tmp_path):
    path = tmp_path / "result.json"
    path.write_text(json.dumps({**SMALLEST, "mood": "good"}))
    read = result.read(path)
    assert read.levels[0].samples[0].error_class == "timeout"
    assert read.model_dump(by_alias=True)["mood"] == "good"
    assert read.model_dump(by_alias=True)["schema"] == 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"schema": 2}, "schema"),
        ({"kind": "dance"}, "kind"),
        ({"levels": [{"concurrency": -1}]}, "levels.0.concurrency"),
    ],
)
def test_refuses_what_is_no_result_and_names_the_key(tmp_path, change, says):
    path = tmp_path / "result.json"
    path.write_text(json.dumps({**SMALLEST, **change}))
    with pytest.raises(UsageError) as caught:
        result.read(path)
    assert str(path) in caught.value.message
    assert says in caught.value.message


def test_a_missing_file_is_an_error_that_names_it(tmp_path):
    with pytest.raises(UsageError, match="No such file"):
        result.read(tmp_path / "result.json")


def test_half_a_file_is_an_error_that_names_it(tmp_path):
    path = tmp_path / "result.json"
    path.write_text('{"schema": 1,')
    with pytest.raises(UsageError, match="is not a result of torr"):
        result.read(path)


def test_pairs_are_read_as_json_writes_them():
    verdicts = [{"metric": "p99", "verdict": "same", "interval": [1, None]}]
    text = json.dumps({**SMALLEST, "verdicts": verdicts}).encode()
    assert result.checked_json(text, "it")["verdicts"] == verdicts
    assert result.checked(result.Result, text, "it").verdicts[0].interval == (1, None)
