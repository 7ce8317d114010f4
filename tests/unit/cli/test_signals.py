"""Ctrl-C: heard once, heard twice, and then the process's own again."""

from __future__ import annotations

import os
import signal

from torr.cli.signals import interrupted_by_signals
from torr.experiments.interrupt import Interrupt


def test_the_first_signal_presses_and_the_next_is_still_heard():
    interrupt = Interrupt()
    with interrupted_by_signals(interrupt):
        os.kill(os.getpid(), signal.SIGTERM)
        assert interrupt.presses == 1
        assert not interrupt.is_urgent
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupt.is_urgent


def test_after_the_second_signal_the_third_one_would_kill():
    with interrupted_by_signals(Interrupt()):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_the_handlers_of_before_come_back():
    before = signal.getsignal(signal.SIGINT)
    with interrupted_by_signals(Interrupt()):
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
