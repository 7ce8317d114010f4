"""The published schema accepts the example, and refuses what the reader refuses."""

from __future__ import annotations

import pytest
from jsonschema import ValidationError

from documents import ROOT, schema
from torr import engine


def example():
    return engine.read_toml((ROOT / "examples/tune.toml").read_text())[0]


def accepts(change):
    file = example()
    change(file)
    schema("tune").validate(file)


@pytest.mark.parametrize(
    "change",
    [
        lambda _file: None,
        lambda file: file.update(budget="2h", noise="3%", templates={"conf": "a"}, before=[["a"]]),
        lambda file: file["settings"].update(
            pool={"values": [1], "when": {"capacity": 1}, "argument": ["--pool"], "env": "POOL"}
        ),
    ],
)
def test_the_example_and_every_key_satisfy_the_schema(change):
    accepts(change)


@pytest.mark.parametrize(
    "change",
    [
        lambda file: file.update(setings={}),
        lambda file: file.update(rounds=10),
        lambda file: file.update(budget=0),
        lambda file: file.update(settings={}),
        lambda file: file.update(settings={"a": 1}),
        lambda file: file.update(settings={"a": [1, 1]}),
        lambda file: file.update(settings={"a": {"value": [1]}}),
        lambda file: file.update(before=["a"]),
        lambda file: file.update(command="x y"),
        lambda file: file.pop("default"),
        lambda file: file.pop("settings"),
    ],
)
def test_what_the_reader_refuses_the_schema_refuses(change):
    with pytest.raises(ValidationError):
        accepts(change)
