"""The columns of levels.csv."""

from __future__ import annotations

import csv
import io

import msgspec

from doubles import Truth, measured_level
from torr.messages.message import Message
from torr.report.files.csv import records, rows_of, text
from torr.results.level import GeneratorNode
from torr.results.result import RunResult, TrialFailure


def test_each_node_has_columns_with_its_name():
    nodes = [GeneratorNode(name="a", processes=1, ok=7), GeneratorNode(name="b.c", processes=2)]
    level = measured_level(4, Truth())
    generator = msgspec.structs.replace(level.generator, nodes=nodes)
    with_nodes = msgspec.structs.replace(level, generator=generator)
    [row] = csv.DictReader(io.StringIO(text([with_nodes])))
    assert row["generator.nodes.a.ok"] == "7"
    assert row["generator.nodes.b.c.processes"] == "2"
    assert "generator.nodes" not in row
    [row] = csv.DictReader(io.StringIO(text([level])))
    assert not [column for column in row if "nodes" in column]


def test_a_factor_may_have_the_name_of_a_part_of_a_level():
    names = ("nodes", "monitor", "requests", "samples", "intervals", "histograms")
    factors = {name: number for number, name in enumerate(names)}
    level = msgspec.structs.replace(measured_level(4, Truth()), factors=factors)
    failure = TrialFailure(candidate="a", factors=factors, round=1, kind="start", text=Message("x"))
    result = RunResult(
        schema_=2,
        torr="",
        kind="compare",
        name="",
        started="2026-01-01",
        ended=None,
        status="complete",
        levels=[level],
        failures=[failure],
    )
    for row in records(rows_of(result)):
        assert {name: row[f"factors.{name}"] for name in names} == factors


def test_the_intervals_that_were_judged_have_a_column():
    level = measured_level(4, Truth())
    assert records([level])[0]["health.intervals"] == level.health.intervals
