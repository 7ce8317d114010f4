"""The published schema accepts the example, and refuses what the reader refuses."""

from __future__ import annotations

import pytest
from jsonschema import ValidationError

from documents import ROOT, schema
from torr import engine


def example():
    return engine.read_toml((ROOT / "examples/dify.toml").read_text())[0]


def test_the_example_satisfies_the_schema():
    schema("plan").validate(example())


@pytest.mark.parametrize(
    "change",
    [
        lambda plan: plan.update(duraton="3s"),
        lambda plan: plan["requests"][0].update(metod="GET"),
        lambda plan: plan["requests"][0].pop("name"),
        lambda plan: plan["groups"][0].update(users=0),
        lambda plan: plan["groups"][0].update(requests="simple"),
        lambda plan: plan["groups"][0].update(arrivals="often"),
        lambda plan: plan["groups"][0].update(connections=0),
        lambda plan: plan.pop("requests"),
    ],
)
def test_what_the_reader_refuses_the_schema_refuses(change):
    plan = example()
    change(plan)
    with pytest.raises(ValidationError):
        schema("plan").validate(plan)


def test_lines_are_those_of_the_text():
    text = "a = 1\n[[t]]\nb = { c = 2 }\n\n[[t]]\nb = [\n  1,\n  2,\n]\n"
    value, lines = engine.read_toml(text)
    assert value == {"a": 1, "t": [{"b": {"c": 2}}, {"b": [1, 2]}]}
    assert (lines["a"], lines["t.0"], lines["t.0.b.c"], lines["t.1.b.1"]) == (1, 2, 3, 8)


@pytest.mark.parametrize(
    ("text", "line"), [("a = \n", 1), ("\nb = 1\nb = 2\n", 3), ("a = inf\n", 1), ("[a\n", 1)]
)
def test_what_is_no_toml_has_its_line(text, line):
    with pytest.raises(ValueError, match=rf"^{line}:"):
        engine.read_toml(text)
