"""Work that stands back: what it finds comes through, and signals are heard meanwhile."""

import os
import signal
import threading
import time

import pytest

from torr.experiments.background import in_background, in_calling_thread


def nothing() -> None:
    """Give nothing up."""


def nice_value() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def test_the_work_stands_back_and_its_caller_stays_where_it_was() -> None:
    before = nice_value()
    assert in_background(nice_value, nothing) == min(before + 10, 19)
    assert nice_value() == before


def test_direct_work_is_the_callers_own() -> None:
    assert in_calling_thread(threading.get_native_id, nothing) == threading.get_native_id()
    assert in_background(threading.get_native_id, nothing) != threading.get_native_id()


def test_an_error_of_the_work_is_the_callers() -> None:
    def failing() -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        in_background(failing, nothing)


def test_an_error_of_a_signals_handler_ends_the_work_first() -> None:
    over = threading.Event()
    ended = []

    def working() -> None:
        os.kill(os.getpid(), signal.SIGUSR1)
        over.wait(timeout=20)
        time.sleep(0.05)
        ended.append(time.monotonic())

    def refuse(_number: int, _frame: object) -> None:
        raise InterruptedError("enough")

    before = signal.signal(signal.SIGUSR1, refuse)
    try:
        with pytest.raises(InterruptedError, match="enough"):
            in_background(working, over.set)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert over.is_set()
    assert len(ended) == 1
