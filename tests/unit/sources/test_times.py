"""Times that are written down, and how they are spread over a second."""

from __future__ import annotations

import pytest

from torr.errors import FileError, UsageError
from torr.sources import times as reader
from torr.sources.times import read_times

MS = 1_000_000


def times(tmp_path, text, speed=1.0):
    path = tmp_path / "times"
    path.write_text(text)
    return [time // MS for time in read_times(path, speed)]


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("5\n6.5\n10\n", [0, 1500, 5000]),
        ("1700000000.250\n1700000000.5\n", [0, 250]),
        ("# seconds\n\n0.1\n0.3", [0, 200]),
        ("3.5\n1\n2.25\n", [0, 1250, 2500]),
        ("2026-01-31T12:00:00Z GET /\n2026-01-31T12:01:00.5Z GET /\n", [0, 60_500]),
        ("2026-01-31 12:00:59,5\n2026-01-31 12:01:00,250\n", [0, 750]),
        ("2026-01-31T12:00:00.5+01:00\n2026-01-31T11:00:01.5Z\n", [0, 1000]),
        ("2026-01-31T12:00:00.5-0130\n2026-01-31T13:30:02.5Z\n", [0, 2000]),
    ],
)
def test_every_way_to_write_a_time_is_read(tmp_path, text, milliseconds):
    assert times(tmp_path, text) == milliseconds


def access(*seconds, zone="-0700"):
    line = '127.0.0.1 - ann [10/Oct/2000:13:55:{:02} {}] "GET /a HTTP/1.1" 200 5 "-" "[x]"\n'
    return "".join(line.format(second, zone) for second in seconds)


def test_an_access_log_is_read_and_its_seconds_are_spread(tmp_path):
    assert times(tmp_path, access(36, 36, 36, 36, 38)) == [0, 250, 500, 750, 2000]


def test_zones_of_an_access_log_count(tmp_path):
    assert times(tmp_path, access(36) + access(36, zone="-0800")) == [0, 3_600_000]


def test_whole_numbers_are_spread_and_finer_ones_are_not(tmp_path):
    assert times(tmp_path, "1\n1\n2\n") == [0, 500, 1000]
    assert times(tmp_path, "1\n1\n2.5\n") == [0, 0, 1500]


def test_speed_shortens_the_way_between_them(tmp_path):
    assert times(tmp_path, "0\n1\n3.5\n", speed=2) == [0, 500, 1750]
    assert times(tmp_path, "0\n1.5\n", speed=0.5) == [0, 3000]


def test_times_are_exact_to_the_nanosecond(tmp_path):
    path = tmp_path / "times"
    path.write_text("1700000000.000000001\n1700000000.123456789123\n")
    assert read_times(path) == [0, 123_456_788]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "there is no time in it"),
        ("# only\n", "there is no time in it"),
        ("hello\n", ":1: 'hello' has no time"),
        ("1\n\nhello\n", ":3: 'hello' has no time"),
        ("1\n-1\n", ":2: '-1' has no time"),
        ("1\n1e5\n", ":2: '1e5' has no time"),
        ("2026-01-31T12:00:00Z\n12\n", ":2: '12' has no time"),
        ("2026-13-31T12:00:00Z\n", ":1: '2026-13-31T12:00:00Z' has no time"),
        ("[10/Foo/2000:13:55:36 -0700]\n", "has no time"),
        ("[32/Oct/2000:13:55:36 -0700]\n", "has no time"),
        (f"{access(36)}127.0.0.1 - - broken\n", ":2: '127.0.0.1 - - broken' has no time"),
    ],
)
def test_a_line_without_a_time_is_named(tmp_path, text, says):
    with pytest.raises(UsageError) as error:
        times(tmp_path, text)
    assert says in str(error.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match="none: No such file"):
        read_times(tmp_path / "none")


@pytest.mark.parametrize("digits", [19, 400, 5000])
def test_a_number_too_large_for_a_time_is_refused_at_its_line(tmp_path, digits):
    path = tmp_path / "t"
    path.write_text(f"0\n{'1' * digits}\n")
    for speed in (1.0, 1e-9):
        with pytest.raises(FileError, match=r"t:2: '1+' has no time"):
            read_times(path, speed)


def test_times_that_a_speed_draws_out_beyond_all_numbers_are_refused(tmp_path):
    (tmp_path / "t").write_text("0\n1000\n")
    with pytest.raises(UsageError, match="too far apart"):
        read_times(tmp_path / "t", 1e-300)


def test_more_times_than_memory_is_for_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "MOST_TIMES", 2)
    (tmp_path / "t").write_text("0\n1\n# none\n2\n")
    with pytest.raises(FileError, match="t:4: there are more than 2 times"):
        read_times(tmp_path / "t")
