"""Flame graphs as pictures of their own."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

import typed
from torr import report
from torr.report.files import flame_svg
from torr.report.tables import flame_table

SVG = "{http://www.w3.org/2000/svg}"
TAKEN = typed.profile(
    tool="pprof",
    concurrency=8,
    unit="samples",
    folded="main;serve;log 40\nmain;serve 20\nmain;gc 40\n",
)


def pictures(*taken, language="en", **result):
    found = typed.result(profiles=[typed.changed(TAKEN, **each) for each in taken], **result)
    return [flame_svg.text(each, language) for each in flame_table.flames(found)]


def drawn(text):
    return ET.fromstring(text)  # noqa: S314 - made right here


def boxes(text):
    """What each box says when the pointer is over it, with where it is, its colour and its name."""
    root = drawn(text)
    found = {}
    for box in root.findall(f"{SVG}svg"):
        place = tuple(float(box.get(key)) for key in ("x", "y", "width"))
        label = box.find(f"{SVG}text")
        colour = box.find(f"{SVG}rect").get("fill")
        title = box.find(f"{SVG}title").text
        found[title] = (place, colour, None if label is None else label.text)
    return found


def test_boxes_are_as_wide_as_their_share_and_stand_below_their_callers():
    (text,) = pictures({})
    assert "Where the time went, by pprof at 8 connections</text>" in text
    found = {title: (place, name) for title, (place, _, name) in boxes(text).items()}
    assert found == {
        "all · 100 samples · 100 %": ((10, 32, 1200), "all"),
        "main · 100 samples · 100 %": ((10, 50, 1200), "main"),
        "serve · 60 samples · 60 %": ((10, 68, 720), "serve"),
        "log · 40 samples · 40 %": ((10, 86, 480), "log"),
        "gc · 40 samples · 40 %": ((730, 68, 480), "gc"),
    }
    assert float(drawn(text).get("height")) == 86 + 18 + 10


@pytest.mark.parametrize(
    ("unit", "weight", "said"),
    [("ns", 30_000_000, "30.0 ms"), ("bytes", 3 * 2**20, "3 MiB"), ("samples", 3_000, "3,000")],
)
def test_what_was_seen_is_in_its_unit(unit, weight, said):
    (text,) = pictures({"unit": unit, "folded": f"main {weight}\n"})
    assert f"<title>main · {said}" in text


def test_names_cannot_break_it():
    name = 'std::vec<int>::at("x") & \x1b[0m</svg><script>'
    (text,) = pictures({"folded": f"{name} 10\n"})
    assert "<script" not in text
    (title,) = [title for title in boxes(text) if title.startswith("std")]
    assert title == 'std::vec<int>::at("x") & \ufffd[0m</svg><script> · 10 samples · 100 %'


def test_names_are_cut_or_left_out_where_there_is_no_room():
    (text,) = pictures({"folded": f"{'wide' * 60} 990\n{'narrow' * 9} 60\nthin 5\n"})
    names = {title.partition(" ")[0][:4]: name for title, (*_, name) in boxes(text).items()}
    assert names["wide"].endswith("…")
    assert names["narr"] == "narrowna…"
    assert names["thin"] is None


def test_beside_a_baseline_colours_and_signs_say_what_takes_more_and_what_less():
    series = [{"name": "bare", "points": []}, {"name": "logging", "points": []}]
    before = {"candidate": "bare", "folded": "main;serve 40\nmain;gc 60\n"}
    both = (before, {"candidate": "logging"})
    first, second = pictures(*both, kind="diff", series=series)
    assert "+" not in first
    assert "+ orange: larger share than in bare; − blue: smaller share</text>" in second
    found = {title: (colour, name) for title, (_, colour, name) in boxes(second).items()}
    assert found == {
        "all · 100 samples · 100 % · bare: 100 %": ("#dfe3e8", "all"),
        "main · 100 samples · 100 % · bare: 100 %": ("#dfe3e8", "main"),
        "serve · 60 samples · 60 % · bare: 40 %": ("#ecb78c", "+ serve"),
        "log · 40 samples · 40 % · bare: 0 %": ("#ecb78c", "+ log"),
        "gc · 40 samples · 40 % · bare: 60 %": ("#8cc0dc", "− gc"),
    }
    assert "橙色" in pictures(*both, kind="diff", series=series, language="zh")[1]


def test_recursion_of_thousands_of_calls_is_drawn():
    (text,) = pictures({"folded": f"{';'.join(2_000 * ['f'])} 90\n"})
    assert "(deeper) · 90 samples" in text


def test_each_profile_has_a_file_and_they_are_found_again(run, tmp_path):
    taken = [TAKEN, typed.changed(TAKEN, folded=None, failure="perf: no"), TAKEN]
    written = report.write_all(typed.changed(run, profiles=taken), tmp_path)
    files = [tmp_path / "flame.svg", tmp_path / "flame-2.svg"]
    assert [path for path in written if path.suffix == ".svg"] == files
    assert flame_svg.written(tmp_path) == files


def test_a_run_without_a_profile_has_none(run, tmp_path):
    report.write_all(run, tmp_path)
    assert flame_svg.written(tmp_path) == []
