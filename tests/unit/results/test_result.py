import gzip
import json
import math

import jsonschema
import pytest

import typed
from documents import ROOT
from lost import lost
from torr.engine import decoded_interval, decoded_level
from torr.errors import ResultError, UsageError
from torr.results import result
from torr.results.base import builtins

SCHEMA = ROOT / "docs" / "reference" / "result.schema.json"

SMALLEST = {
    "schema": 2,
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
            "samples": [{"class": "timeout", "detail": "no response", "t_s": 0.1}],
            "health": {"verdict": "healthy"},
        }
    ],
}


def test_the_published_schema_is_fresh():
    assert SCHEMA.read_text(encoding="utf-8") == result.schema_text(), (
        "write it again: torr.results.result.write_schema"
    )


def test_the_smallest_result_satisfies_the_published_schema():
    jsonschema.validate(SMALLEST, json.loads(SCHEMA.read_text(encoding="utf-8")))


def test_reads_a_result_without_the_keys_it_does_not_know(tmp_path):
    path = tmp_path / "result.json"
    path.write_text(json.dumps({**SMALLEST, "mood": "good"}))
    read = result.read(path)
    assert read.levels[0].samples[0].error_class == "timeout"
    written = json.loads(result.encoded(read))
    assert written["schema"] == 2
    assert written["levels"][0]["samples"][0]["class"] == "timeout"
    assert "mood" not in written


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"schema": 3}, "schema"),
        ({"kind": "dance"}, "kind"),
        ({"levels": [{"concurrency": -1}]}, "levels[0].concurrency"),
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
    path.write_text('{"schema": 2,')
    with pytest.raises(UsageError, match="is not a result of torr"):
        result.read(path)


def test_pairs_are_written_as_they_are_read():
    verdicts = [{"metric": "p99", "word": "same", "interval": [1, None]}]
    read = result.decoded(json.dumps({**SMALLEST, "verdicts": verdicts}).encode(), "it")
    assert read.verdicts[0].interval == (1, None)
    assert json.loads(result.encoded(read))["verdicts"][0]["interval"] == [1, None]


def test_a_point_of_a_series_is_written_without_the_streams_that_it_does_not_have():
    point = {"concurrency": 5, "ok_per_s": 9.5, "service_ms": 1.5, "success_rate": 100.0}
    series = [{"name": name, "points": [point]} for name in ("before", "after")]
    read = result.decoded(json.dumps({**SMALLEST, "series": series}).encode(), "it")
    (written,) = json.loads(result.encoded(read))["series"][1]["points"]
    assert written["service_ms"] == 1.5
    assert "stream" not in written
    assert read.series[0].points[0].stream_values == {}


def text_of(**changes):
    return json.dumps({**SMALLEST, **changes}).encode()


def test_a_result_of_a_newer_torr_is_told_from_one_that_is_broken():
    with pytest.raises(
        ResultError, match=r"it was made by a newer torr \(its schema is 3"
    ) as newer:
        result.decoded(text_of(schema=3, levels=5), "it")
    assert newer.value.hint == "update torr"
    with pytest.raises(ResultError, match="it is not a result of torr: schema: "):
        result.decoded(text_of(schema=0), "it")


DEEP = json.loads("[" * 150 + "]" * 150)
REFUSED = {
    "a text for a number": (text_of(levels=[{"concurrency": "5"}]), "levels[0].concurrency: "),
    "a count below 0": (text_of(levels=[{"concurrency": -1}]), "levels[0].concurrency: "),
    "a count beyond 64 bits": (text_of(levels=[{"concurrency": 2**63}]), "levels[0].concurrency: "),
    "a share above 100 %": (
        text_of(levels=[{**SMALLEST["levels"][0], "success_rate": 100.5}]),
        "levels[0].success_rate: ",
    ),
    "an amount whose sums lose digits": (
        text_of(levels=[{**SMALLEST["levels"][0], "ok_per_s": 1e16}]),
        "levels[0].ok_per_s: ",
    ),
    "a number beyond floats": (text_of().replace(b"0.2", b"2e999"), "levels[0].ok_per_s: "),
    "no number of JSON": (text_of(plan={"x": math.inf}), "Infinity is not a number of JSON"),
    "no moment": (text_of(ended="yesterday"), "ended: Invalid isoformat string"),
    "a deep plan": (text_of(plan={"x": DEEP}), "nested more than 100 levels deep"),
    "a deep environment": (text_of(environment={"x": DEEP}), "nested more than 100 levels deep"),
    "a deep candidate": (
        text_of(experiment={"candidates": {"x": {"x": DEEP}}}),
        "nested more than 100 levels deep",
    ),
    "a chance that is no share": (text_of(experiment={"alpha": 7.0}), "experiment.alpha: "),
    "a text too deep to be read": (
        b'{"x": ' + b"[" * 100_000,
        "it is nested more than 100 levels deep",
    ),
    "a text that is not UTF-8": (text_of(name="x").replace(b'"x"', b'"\xff"'), "is not UTF-8"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_value_that_is_not_possible_is_refused_with_its_place(name):
    text, says = REFUSED[name]
    with pytest.raises(ResultError) as refused:
        result.decoded(text, "it")
    assert refused.value.message.startswith("it is not a result of torr: ")
    assert says in refused.value.message


def test_halves_of_characters_are_read_and_cannot_be_printed():
    read = result.decoded(text_of(name="a\ud800b", plan={"key \udfff": 1}), "it")
    assert read.name == r"a\ud800b"
    assert read.plan == {r"key \udfff": 1}


def test_texts_are_fit_to_be_printed_and_without_secrets():
    sample = {"class": "read", "head": "\x1b[2J", "body": '{"password": "hush"}'}
    levels = [{**SMALLEST["levels"][0], "samples": [sample], "statuses": {"2\x9b": 1}}]
    read = result.decoded(
        text_of(levels=levels, experiment={"factors": {"n": [1, "\x1b"]}}, note="password=hush"),
        "it",
    )
    (level,) = read.levels
    assert level.samples[0].head == r"\x1b[2J"
    assert "hush" not in level.samples[0].body
    assert level.statuses == {r"2\x9b": 1}
    assert read.experiment.factors == {"n": [1, r"\x1b"]}
    assert read.note == "password=***"


def test_the_written_schema_is_the_published_one(tmp_path):
    result.write_schema(tmp_path / "schema.json")
    assert (tmp_path / "schema.json").read_text(encoding="utf-8") == result.schema_text()


RECORDED = sorted((ROOT / "tests/golden/recorded").glob("*.json.gz"))


def test_texts_of_an_older_torr_are_messages_without_a_code():
    members = {"failure": "nobody answered", "warnings": ["the log ends early: disk full"]}
    level = typed.level(**members, stream={"goodput_missing": "no tokens"})
    texts = [level.failure, *level.warnings, level.stream.goodput_missing]
    assert [text.code for text in texts] == ["", "", ""]
    assert [text.render("zh") for text in texts] == texts
    assert builtins(level)["failure"] == "nobody answered"


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name.partition(".")[0])
def test_what_the_engine_says_keeps_every_key_and_value(path):
    recorded = json.loads(gzip.decompress(path.read_bytes()))
    for load in recorded["loads"]:
        for text in load["intervals"]:
            written = builtins(decoded_interval(text))
            assert list(lost(json.loads(text), written)) == []
        level = json.loads(load["level"])
        for name in ("ok_per_s", "attempted_per_s"):
            level[name] = level[name] or 0.0  # of a window that never opened
        assert list(lost(level, builtins(decoded_level(load["level"])))) == []
