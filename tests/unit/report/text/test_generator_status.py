"""What the live page says of the generator while a level goes on."""

import pytest

import typed
from torr.messages.say import render
from torr.report.text.generator_status import generator_status


def piece(used, waited=(), lag=(), limit=()):
    health = {"worker_cpu_rate": used, "run_queue_rate": waited}
    return typed.interval(
        health={**health, "scheduling_lag_ms": lag, "scheduling_lag_limit_ms": limit}
    )


@pytest.mark.parametrize(
    ("interval_", "word", "said"),
    [
        (piece([20.0, 61.4], [0.1, 0.2]), "unknown", "busiest worker 61 % of a core"),
        (piece([96.0]), "contended", "a worker's core is full: the generator may limit the rates"),
        (piece([60.0], [40.0]), "contended", "a worker's core is full"),
        (piece([60.0, 5.0], [5.0, 60.0]), "unknown", "busiest worker 60 % of a core;"),
        (piece([9.0], [], [0.05], [2.0]), "unknown", "lag 0.050 ms of the 2.00 ms allowed"),
        (
            piece([9.0, 9.0], [], [3.0, 2.5], [40.0, 2.0]),
            "contended",
            "late by 2.50 ms, where 2.00 ms are allowed",
        ),
        (piece([9.0], [], [None], [None]), "unknown", "busiest worker 9 % of a core;"),
    ],
)
def test_an_interval_shows_how_full_and_how_late_the_generator_is(interval_, word, said):
    found, text = generator_status(interval_)
    assert found == word
    assert said in text
    assert text.startswith("The generator now: busiest worker")


def test_an_interval_that_says_nothing_has_no_line():
    assert generator_status(typed.interval()) is None
    assert generator_status(piece([])) is None


def test_it_is_said_in_chinese():
    _, text = generator_status(piece([97.0], [], [3.0], [2.0]))
    assert render(text, "zh") == (
        "压测端此刻：最忙的工作线程占一核的 97 % · "
        "有一个工作线程占满了它的核，速率可能受限于压测端 · "
        "迟了 3.00 ms，超过允许的 2.00 ms；本级结束时才作判定。"
    )
