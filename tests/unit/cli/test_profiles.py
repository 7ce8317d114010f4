"""What a terminal shows of profiles."""

from __future__ import annotations

import io

from rich.console import Console

import typed
from torr.cli.display import profiles
from torr.cli.screen import Screen

GO = "github.com/gin-gonic/gin.(*Engine).handleHTTPRequest"
TAKEN = {
    "tool": "pprof",
    "candidate": None,
    "concurrency": 8,
    "seconds": 10,
    "ok_per_s": None,
    "cost_rate": None,
    "unit": "ns",
    "folded": "".join(f"main;f{at} {99 - at}\n" for at in range(9)),
    "failure": None,
    "hint": None,
}


def shown(*taken, width=80, **result):
    text = io.StringIO()
    console = Console(file=text, width=width, highlight=False, soft_wrap=True)
    found = typed.result(profiles=[{**TAKEN, **each} for each in taken], **result)
    profiles.show(found, Screen(console))
    return text.getvalue().splitlines()


def diffed(**more):
    """What is shown of the second side, whose long function is new."""
    series = [{"name": "bare", "points": []}, {"name": "logging", "points": []}]
    sides = {"candidate": "bare", "folded": "main 10\n"}, {"candidate": "logging", **more}
    lines = shown(*sides, kind="diff", series=series)
    return lines[lines.index("", 1) + 2 :]


def test_five_functions_stand_below_what_is_said_of_a_profile():
    lines = shown({})
    where = "Where the time went, by pprof at 8 connections"
    assert lines[:4] == [
        "",
        f"{where}: in a separate trial; the cost of profiling is not known",
        "function    self   total",
        "f0        11.6 %  11.6 %",
    ]
    assert [line.split()[0] for line in lines[3:]] == ["f0", "f1", "f2", "f3", "f4"]


def test_a_profile_without_stacks_has_its_note_alone():
    failed = {"folded": None, "failure": "perf: no"}
    first, *rest = shown(failed, {}, failed)
    assert first.endswith(": no profile: perf: no")
    assert rest[0] == ""
    assert rest[-1] == first
    assert len(rest) == 9


def test_of_a_difference_the_rows_fit_and_names_keep_their_begin_and_end():
    head, first, *_ = diffed(folded=f"main;{GO} 60\nmain 40\n")
    assert " ".join(head.split()) == "function self total total in bare difference"
    assert first.split()[0].startswith("github.com/")
    assert "…" in first.split()[0]
    assert first.split()[0].endswith("handleHTTPRequest")
    assert first.endswith("60 %       not seen  +60.0 points")
    assert max(map(len, (head, first))) <= 80


def test_of_many_profiles_the_notes_are_enough():
    lines = shown(*7 * [{}])
    assert len(lines) == 7
    assert all(line.startswith("Where the time went") for line in lines)
