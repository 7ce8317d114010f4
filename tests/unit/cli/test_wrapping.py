"""Long sentences in a narrow terminal are broken between words."""

from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from torr.cli.screen import Screen
from torr.cli.wrapping import for_stream, wrapped

SENTENCE = "Healthy: the generator had room, and the busiest worker used 2 % of a core."


@pytest.mark.parametrize("width", range(12, 90))
def test_every_line_fits_and_no_word_is_lost(width):
    lines = wrapped(SENTENCE, width).split("\n")
    assert all(cell_len(line) <= width for line in lines)
    assert " ".join(lines) == SENTENCE


def test_a_path_that_is_too_long_stays_whole():
    path = "/a/path/that/is/longer/than/the/line"
    assert wrapped(f"see {path} for it", 12) == f"see\n{path}\nfor it"


def test_lines_continue_below_the_first_word():
    assert wrapped("    one two three", 11) == "    one two\n    three"
    assert wrapped("one two three", 20, 11) == "one two\n" + " " * 11 + "three"


def test_wide_characters_take_two_cells():
    assert wrapped("目标 没有 响应", 9) == "目标 没有\n响应"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_only_a_terminal_gets_several_lines(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert for_stream(SENTENCE, io.StringIO()) == SENTENCE
    assert for_stream(SENTENCE, Terminal()) == wrapped(SENTENCE, 40)


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_screen_breaks_sentences_only_in_a_terminal(is_terminal):
    text = io.StringIO()
    Screen(Console(file=text, width=40, soft_wrap=True, force_terminal=is_terminal)).line(SENTENCE)
    assert text.getvalue() == (wrapped(SENTENCE, 40) if is_terminal else SENTENCE) + "\n"
