"""Tables of a terminal: texts in several lines."""

from torr.cli.columns import Columns

TABLE = Columns(
    ("setting", "ok/s", "n"),
    (("workers 1, loop asyncio", "100", "20"), ("workers 2, loop uvloop", "1,200", "20")),
)


def test_a_wide_terminal_has_each_row_in_one_line():
    table = TABLE.broken("setting", 80, 10, ("n",))
    assert list(table.lines()) == [
        "setting                   ok/s   n",
        "workers 1, loop asyncio    100  20",
        "workers 2, loop uvloop   1,200  20",
    ]


def test_texts_take_several_lines_beside_their_numbers():
    table = TABLE.broken("setting", 24, 10, ("n",))
    assert list(table.lines()) == [
        "setting        ok/s   n",
        "workers 1,      100  20",
        "loop asyncio",
        "workers 2,    1,200  20",
        "loop uvloop",
    ]


def test_columns_are_left_out_before_the_texts_are_too_narrow():
    table = TABLE.broken("setting", 24, 14, ("n",))
    assert table.names == ("setting", "ok/s")
    assert table.width <= 24
