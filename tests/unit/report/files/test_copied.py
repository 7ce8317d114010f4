"""What leaves torr as text is text for spreadsheets and tickets, from here as from the page.

web/tests/cells.test.ts reads the same table.
"""

import csv as reader
import io
import json
from pathlib import Path

import pytest

from torr.report.files import csv
from torr.report.files.markdown_parts import plain

COPIED = json.loads(Path(__file__).with_name("copied.json").read_text())


def rows(*levels):
    return list(reader.reader(io.StringIO(csv.text(list(levels)), newline="")))[1:]


@pytest.mark.parametrize("cell", COPIED["formulas"])
def test_a_formula_is_text_in_csv(cell):
    ((kept,),) = rows({"a": cell})
    assert kept == f"'{cell}".replace("\r", "\n")


def test_a_carriage_return_begins_no_row():
    assert rows({"a": "x\r=HYPERLINK(1)"}) == [["x\n=HYPERLINK(1)"]]


@pytest.mark.parametrize(("cell", "written"), COPIED["markdown"])
def test_nothing_is_marked_up_in_markdown(cell, written):
    assert plain(cell) == written
