"""Checksums of prompts, data files and templates."""

from dataclasses import replace
from pathlib import Path

from torr.model.plan import Closed, Count, Group, Plan
from torr.model.request import Request
from torr.model.rows import Rows
from torr.model.source import Source
from torr.planning.checksums import checksums
from torr.servers.preparation import ConfigTemplate, Preparation

GROUP = Group(pace=Closed(1), source=Source.of(Request("http://127.0.0.1/")))


def of_data(data):
    plan = Plan(groups=(replace(GROUP, data=data),), stop=Count(1))
    return checksums(plan, Preparation())


def test_rows_and_files_have_the_checksum_of_their_content(tmp_path):
    rows = of_data(Rows(("prompt",), (("hi",), ("you",))))
    assert list(rows) == ["data of default"]
    assert rows == of_data(Rows(("prompt",), (("hi",), ("you",))))
    assert rows != of_data(Rows(("prompt",), (("hi",), ("we",))))
    path = tmp_path / "rows.csv"
    path.write_text("id\n1\n")
    before = of_data(str(path))
    path.write_text("id\n2\n")
    assert of_data(str(path)) != before
    assert of_data(None) == {}


def test_templates_and_commands_have_one_too():
    def of(text, *words):
        template = ConfigTemplate("conf", Path("server.conf"), text)
        return checksums(Plan(groups=(GROUP,), stop=Count(1)), Preparation((template,), words))

    plain = of("a")
    assert list(plain) == ["template conf"]
    assert plain != of("b")
    assert of("a", ("./warm",))["before"] != of("a", ("./cold",))["before"]
