"""The columns of levels.csv."""

from __future__ import annotations

import csv
import io

import msgspec

from doubles import Truth, measured_level
from torr.report.files.csv import text
from torr.results.level import GeneratorNode


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
