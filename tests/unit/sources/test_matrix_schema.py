"""The published schema accepts the studies, and refuses what the reader refuses."""

from __future__ import annotations

import pytest
from jsonschema import ValidationError

from documents import ROOT, schema
from torr import engine

# Files of torr tune have a schema of their own.
ALL_FILES = sorted((ROOT / "studies").glob("*/*.toml"))
FILES = [path for path in ALL_FILES if not path.stem.startswith("tune")]


def matrix():
    return engine.read_toml((ROOT / "studies/proxy/matrix.toml").read_text())[0]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_matrices_of_the_studies_satisfy_the_schema(path):
    schema("matrix").validate(engine.read_toml(path.read_text())[0])


@pytest.mark.parametrize(
    "change",
    [
        lambda file: file.update(duraton="3s"),
        lambda file: file.update(restart="never"),
        lambda file: file.update(rounds=0),
        lambda file: file.update(factors={"connections": 5}),
        lambda file: file["candidates"][0].update(comand=["x"]),
        lambda file: file["candidates"][0].update(command="x y"),
        lambda file: file["candidates"][0].update(rounds=3),
        lambda file: file["candidates"][0].update(slo="p50 < 1ms"),
        lambda file: file["candidates"][0].update(expect={"state": 200}),
        lambda file: file["candidates"][0].pop("name"),
        lambda file: file.pop("baseline"),
        lambda file: file.pop("candidates"),
    ],
)
def test_what_the_reader_refuses_the_schema_refuses(change):
    file = matrix()
    change(file)
    with pytest.raises(ValidationError):
        schema("matrix").validate(file)
