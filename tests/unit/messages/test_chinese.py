"""Results in Chinese: sentences as a performance engineer would write them, and no English left."""

import re

import pytest

from compared import FACTORS, compared, failure, matrix, pair, rounds
from ladders import ROWS, levels
from torr.messages.advice import advice
from torr.messages.say import render
from torr.report.data.comparison import Comparison
from torr.report.tables import (
    comparison_facts,
    comparison_tables,
    health_table,
    level_table,
    monitor_table,
    request_tables,
    slo_table,
    stream_tables,
    verdict_table,
)
from torr.report.tables.table import Table
from torr.report.text import sentence, trust
from torr.report.text.reasons import meaning

# Words of the field, of formats and of the fixtures' own data may stand beside each other.
NAMES = re.compile(
    r"--\S+|\d\S*|torr|ttf[bet]|tpot|TTLB|RSS|CPU|USL|SLO|steal|service mean|timeout\.\S+|read\.\S+"
    r"|thread CPU|run-queue wait|give it more cores with|aiperf \w+"
    r"|tokens/s|\S+ < \S+|\S+ >= \S+"
)


def test_a_ladder_says_its_capacity(make_level, make_result):
    found = make_result("ladder", levels(make_level, *ROWS), ["p95 < 500ms"])
    assert render(sentence.verdict(found), "zh") == (
        "在 400 个连接时能承受每秒 2,160 个请求，且 p95 低于 500 ms；拐点在 100。"
    )
    assert render(sentence.success(found), "zh") == "从 50 到 800 个连接，没有请求失败。"


def test_what_cannot_be_shown_says_why(make_level, make_result):
    found = make_result("ladder", levels(make_level, (5, 100, 1.0)), ["success >= 99.9%"])
    assert render(sentence.verdict(found), "zh") == (
        "在 5 个连接时无法证明 success 不低于 99.9 %（1,000 次尝试中没有错误，样本太少："
        "需要 3,000 次）；在 5 个连接时达到每秒 100 个请求，这是唯一的一级。"
    )


def test_a_limited_ladder_says_which_levels_claim_nothing(limited_ladder):
    assert render(trust.trust(limited_ladder), "zh").startswith(
        "在 800 和 1,600 个连接时压测端受限，这些级不用于任何结论（一个工作线程"
    )


def test_reasons_of_the_engine_are_said_in_chinese(make_level, make_result):
    text = "only 900 of 1,000 connections could be opened from this machine"
    cause = {"code": "health.no_socket_memory", "values": {}, "text": "no memory left for sockets"}
    values = {"open": 900, "asked": 1000, "cause": cause}
    why = {"code": "health.missing_connections", "values": values, "text": text}
    made = make_level(1000, 9.0, 1.0, verdict="generator-limited", reasons=[why])
    assert render(sentence.verdict(make_result("run", [made])), "zh") == (
        "无法得出结论：压测端是瓶颈：1,000 个连接中，只有 900 个能从这台机器打开：套接字内存用尽。"
    )


def test_reasons_of_an_older_torr_stay_in_english(make_level, make_result):
    made = make_level(5, 9.0, 1.0, verdict="generator-limited", reasons=["thread CPU 97 %."])
    assert render(sentence.verdict(make_result("run", [made])), "zh") == (
        "无法得出结论：压测端是瓶颈：thread CPU 97 %。"
    )


def test_a_comparison_says_who_is_faster():
    assert render(sentence.verdict(pair(0.885)), "zh") == (
        "在 500 个连接时，go-gin 比 go-net 慢 11 %（10–12 %，10 轮）。"
    )
    found = pair(0.87, 1.0, 0.9, 0.7, factors=FACTORS)
    assert render(sentence.verdict(found), "zh") == (
        "go-gin 在 4 个单元格中的 3 个里比 go-net 慢，差距最大的是 4 个进程和 500 个连接时："
        "30 %（29–31 %）；在 1 个单元格里相同。"
    )


def test_failures_have_meaning_and_advice():
    assert render(meaning("status.503"), "zh") == "响应的状态码不被接受"
    assert render(advice("read.reset"), "zh") == "端口背后的进程崩溃了，或代理切断了连接。"
    assert meaning("nobody.knows") == ""


RESULTS = ("ladder", "limited_ladder", "collapsing_ladder", "run", "streamed", "streamed_ladder")


@pytest.mark.parametrize("name", [*RESULTS, "diffed"])
def test_no_english_is_left_in_a_result(name, request):
    result = request.getfixturevalue(name)
    assert english(texts_of(result)) == []


def broken():
    """A comparison of which some trials failed and some cells have no verdict."""
    setting = {"connections": 500}
    made = rounds({"a": 100, "b": 104, "c": 220}, setting, count=7, spread=0.03)
    limited = rounds({"a": 90, "b": 91}, {"connections": 9}, count=6, health="generator-limited")
    factors = {"connections": [500, 9]}
    failures = [failure("c", {"connections": 9}), failure("d", setting)]
    return compared([*made, *limited], baseline="a", factors=factors, failures=failures)


@pytest.mark.parametrize(
    "make", [lambda: pair(1.0, spread=0.004), lambda: pair(1.02, spread=0.04), matrix, broken]
)
def test_no_english_is_left_in_a_comparison(make):
    result = make()
    result.experiment.rules = []
    assert english(texts_of(result)) == []


def test_english_that_is_left_is_found():
    assert english(["在 5 when nothing else 时", "p95 低于 500 ms"]) == [
        "在 5 when nothing else 时"
    ]


def english(texts):
    """The texts that have three Latin words in a row: no name has so many."""
    words = re.compile(r"[a-z]{2,} [a-z]+ [a-z]{2,}")
    return [text for text in texts if words.search(NAMES.sub("·", text))]


def texts_of(result):
    """Everything that is said of a result, in Chinese."""
    found = [sentence.verdict(result), trust.trust(result)]
    if result.kind == "compare":
        found += of_comparison(Comparison.of(result), result)
    elif result.kind == "diff":
        found += [
            verdict_table.verdicts(result),
            level_table.ratios(result),
            sentence.success(result),
        ]
    else:
        found += of_levels(result)
    return [render(text, "zh") for part in found for text in cells(part)]


def of_comparison(found, result):
    tables = (
        comparison_tables.of_words,
        comparison_tables.of_failures,
        comparison_tables.of_errors,
    )
    return [
        *(write(found) for write in (*tables, comparison_tables.of_discarded)),
        *(part for pair in comparison_tables.of_cells(found) for part in pair),
        *map(comparison_tables.of_cell, found.cells),
        *comparison_facts.notes(found),
        comparison_facts.configuration(result),
        verdict_table.verdicts(result),
    ]


def of_levels(result):
    level = result.levels[0]
    return [
        *(
            write(result)
            for write in (
                level_table.levels,
                level_table.capacity,
                slo_table.of_levels,
                level_table.errors,
            )
        ),
        *(write(result) for write in (monitor_table.of_levels, stream_tables.streams_of_levels)),
        *(
            write(level)
            for write in (level_table.times, level_table.throughput, request_tables.requests)
        ),
        *(write(level) for write in (stream_tables.streams, stream_tables.tokens)),
        health_table.judged(result.levels),
        sentence.success(result),
    ]


def cells(part):
    if isinstance(part, Table):
        return [*part.columns, *(cell for row in part.rows for cell in row)]
    return [part] if part else []
