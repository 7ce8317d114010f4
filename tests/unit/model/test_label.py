"""Tags and notes as people write them."""

import pytest

from torr.errors import UsageError
from torr.model.label import read_note, read_tag


@pytest.mark.parametrize("text", ["baseline", "v1.2", " a ", "größe", "a:b"])
def test_a_tag_is_one_word(text):
    assert read_tag(text) == text.strip()


@pytest.mark.parametrize("text", ["", " ", "two words", "-x", "a\x1b[31m", "x" * 101])
def test_what_is_no_tag_is_refused(text):
    with pytest.raises(UsageError, match="tag"):
        read_tag(text)


def test_a_note_is_one_line_that_moves_no_terminal():
    assert read_note(" api\n1.2  CPU\x1b[2J ") == "api 1.2 CPU[2J"


def test_secrets_of_a_note_are_covered():
    assert read_note("against http://ann:pw@db/?token=abc") == "against http://***@db/?token=***"
