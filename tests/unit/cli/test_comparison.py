"""What a person reads in the terminal when a comparison has ended."""

import io

import pytest
from rich.console import Console

import typed
from compared import FACTORS, compared, failure, matrix, pair, rounds
from torr.cli.terminal import show
from torr.model.condition import Condition
from torr.verdicts.capacity import verdicts_of_trials

AT = {"connections": 500}


def lines_of(result, **settings):
    text = io.StringIO()
    show(result, console=Console(file=text, width=80, highlight=False, soft_wrap=True), **settings)
    return text.getvalue().splitlines()


def test_verdict_and_trust_come_first_then_the_cell():
    assert lines_of(pair(0.88)) == [
        "go-gin is 11 % slower than go-net (11–12 %, 10 rounds) at 500 connections.",
        (
            "Healthy: the generator had room · 10 rounds, interleaved, spread of trials 0.9 % · "
            "generator on core 0, target on core 1 · busiest worker 61 % of a core."
        ),
        "",
        "500 connections",
        "candidate    ok/s   ratio       95 %  verdict        p99  errors   n",
        "go-net     11,957       –          –  baseline  0.209 ms     0 %  10",
        "go-gin     10,591  0.89 ×  0.88–0.89  slower    0.236 ms     0 %  10",
    ]


def test_quiet_is_the_verdict_alone():
    assert len(lines_of(pair(0.88), quiet=True)) == 1


def test_what_is_inconclusive_says_why():
    found = lines_of(pair(0.98, spread=0.05))
    assert found[-1] == "  go-gin: about 72 rounds would settle it"


def with_slos(result, *texts):
    found = verdicts_of_trials(result.levels, [Condition.parse(text) for text in texts])
    return typed.changed(result, verdicts=[*result.verdicts, *found])


def test_slos_of_few_candidates_are_shown_all():
    found = lines_of(with_slos(pair(0.88), "ok/s > 11k"))
    assert found[-2].startswith("held       go-net at 500 connections: ok/s > 11k, seen ")
    assert found[-1].startswith("broken     go-gin at 500 connections: ok/s > 11k, seen ")


def test_of_many_slos_those_that_did_not_hold_are_shown():
    found = lines_of(with_slos(matrix(), "success > 50%", "ok/s > 4900"))
    broken = [line for line in found if line.startswith("broken")]
    assert [line.split()[1] for line in broken] == ["litefs-uvicorn"] * 3
    assert found[-1] == "held       69 of 72"


def test_failed_trials_are_named_with_their_reason():
    result = compared(
        rounds({"go-net": 12_000}, AT), names=["go-net", "x"], failures=[failure("x", AT, 2)]
    )
    found = lines_of(result)
    assert found[-5:] == [
        "1 trial failed",
        "  x, 500 connections, round 2: did not start",
        "    it exited: code 3; look at its log",
        "    | Traceback (most recent call last):",
        "    | OSError: <port> is `taken`",
    ]
    assert found[6].split() == ["x", "–", "–", "–", "failed", "–", "–", "0"]


def test_what_to_try_is_never_cut():
    long = failure("x", AT, text="it exited before it was ready" + ", and so on" * 9)
    found = lines_of(compared(rounds({"go-net": 12_000}, AT), failures=[long]))
    at = next(n for n, line in enumerate(found) if "round 1: did not start" in line)
    why = [line.strip() for line in found[at + 1 :] if not line.startswith("    | ")]
    assert " ".join(why).endswith("and so on; look at its log")
    assert max(map(len, found[at:])) <= 80


def test_a_server_s_last_words_stand_below_why_and_no_name_twice():
    died = failure("x", AT, text="x: it ended with exit code 3")
    died["log_tail"] = [
        "one",
        "two",
        "Traceback",
        "  line 1",
        "\x1b[31mno module\a flub" + "!" * 200,
    ]
    found = lines_of(compared(rounds({"go-net": 12_000}, AT), failures=[died]))
    at = next(at for at, line in enumerate(found) if line.startswith("    it ended"))
    assert not any("x: it ended" in line for line in found[at:])
    assert found[at + 1 : at + 3] == ["    | Traceback", "    |   line 1"]
    assert found[at + 3].startswith("    | no module flub!!!")
    assert found[at + 3].endswith("…")


def test_failures_are_shown_though_nothing_was_measured():
    result = compared([], names=["go-net", "x"], failures=[failure("x", AT)] * 14)
    found = lines_of(result)
    assert found[0].startswith("Nothing was measured; 14 trials failed")
    assert found[-1] == "  and 4 more"


def test_nothing_at_all_is_two_lines():
    assert lines_of(compared([], names=["a", "b"])) == [
        "Nothing was measured.",
        "No trial was measured.",
    ]


@pytest.mark.parametrize(
    "result",
    [
        pair(0.88, 1.1, 1.0, 0.7, factors=FACTORS, spread=0.04),
        compared(
            rounds({"a" * 90: 1_234_567.0, "日本" * 30: 0.5, "line\nbreak": 1e-3}, AT),
            baseline="a" * 90,
            failures=[failure("z" * 90, AT, text="why " * 60)],
        ),
    ],
    ids=["cells", "names"],
)
def test_tables_are_no_wider_than_80_columns(result):
    from rich.cells import cell_len

    lines = lines_of(result)
    assert max(map(cell_len, lines[2:])) <= 80
    assert not any(line.startswith("break") for line in lines)


def test_of_many_cells_only_words_are_counted():
    factors = {"processes": [1, 2, 3, 4], "connections": [10, 20, 30, 40]}
    speeds = {"fastapi-uvicorn": 5000, "litefs": 9000}
    found = lines_of(matrix(factors, speeds))
    assert found[3:] == [
        "cells of 16  faster  slower  same  inconclusive  no verdict  failed",
        "litefs           16       –     –             –           –       –",
        "The tables of the 16 cells are in summary.md and report.html.",
    ]
