import pytest
from hypothesis import given
from hypothesis import strategies as st

from torr import units
from torr.errors import UsageError

finite = st.floats(min_value=1e-6, max_value=1e12, allow_nan=False)


@given(st.integers(min_value=0, max_value=units.LONGEST_NS))
def test_a_duration_survives_being_written_and_read(nanoseconds):
    assert units.parse_duration(units.format_duration(nanoseconds)) == nanoseconds


@given(st.integers(min_value=0, max_value=2**62))
def test_a_size_survives_being_written_and_read(size):
    assert units.parse_size(units.format_size(size)) == size


@given(finite)
def test_a_rate_survives_being_written_and_read(rate):
    assert units.parse_rate(units.format_rate(rate)) == pytest.approx(rate, rel=1e-15)


@given(st.floats(min_value=0, max_value=100))
def test_a_percentage_survives_being_written_and_read(percent):
    assert units.parse_percent(units.format_percent(percent)) == percent


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("10s", 10_000_000_000),
        ("1.5ms", 1_500_000),
        ("2m", 120_000_000_000),
        ("500us", 500_000),
        ("500µs", 500_000),
        (" 7 ns ", 7),
        ("1h", 3_600_000_000_000),
        (".5s", 500_000_000),
        ("0s", 0),
    ],
)
def test_reads_durations(text, nanoseconds):
    assert units.parse_duration(text) == nanoseconds


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("10", "write 10s for seconds"),
        ("-1s", "negative"),
        ("10 parsecs", "unknown unit 'parsecs'"),
        ("soon", "is not a duration"),
        ("", "is not a duration"),
        ("1.5ns", "whole number of nanoseconds"),
        ("1e3s", "unknown unit"),
        ("٣s", "is not a duration"),
    ],
)
def test_refuses_what_is_no_duration_and_says_what_to_write(text, says):
    with pytest.raises(UsageError) as caught:
        units.parse_duration(text)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"), [("500", 500), ("10k", 10_000), ("1.5M", 1_500_000), ("200/s", 200)]
)
def test_reads_rates(text, value):
    assert units.parse_rate(text) == value


@pytest.mark.parametrize(
    ("text", "value"), [("512", 512), ("64KiB", 65_536), ("64kB", 64_000), ("1.5kib", 1536)]
)
def test_reads_sizes(text, value):
    assert units.parse_size(text) == value


@pytest.mark.parametrize("text", ["64k", "1.0001KiB", "-1", "big"])
def test_refuses_sizes_that_could_mean_two_things_or_none(text):
    with pytest.raises(UsageError):
        units.parse_size(text)


@pytest.mark.parametrize("text", ["99.9", "101%", "-1%", "all"])
def test_refuses_what_is_no_percentage(text):
    with pytest.raises(UsageError):
        units.parse_percent(text)


@pytest.mark.parametrize("text", ["10x", "-5", "fast"])
def test_refuses_what_is_no_rate(text):
    with pytest.raises(UsageError):
        units.parse_rate(text)


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (None, "–"),
        (0, "0 ms"),
        (0.00042, "420 ns"),
        (0.0123, "0.012 ms"),
        (0.42, "0.420 ms"),
        (4.333, "4.33 ms"),
        (9.999, "10.0 ms"),
        (99.97, "100 ms"),
        (1780.2, "1,780 ms"),
        (30_000, "30.0 s"),
    ],
)
def test_shows_milliseconds_with_three_digits(milliseconds, text):
    assert units.show_ms(milliseconds) == text


def test_never_rounds_a_failure_away():
    assert units.show_percent(100) == "100 %"
    assert units.show_percent(99.9999) == ">99.99 %"
    assert units.show_percent(99.9) == "99.9 %"
    assert units.show_percent(0.0001) == "<0.01 %"
    assert units.show_percent(0) == "0 %"


def test_shows_rates_and_sizes_for_people():
    assert units.show_rate(47_812.3) == "47,812"
    assert units.show_rate(21.5) == "21.5"
    assert units.show_rate(None) == "–"
    assert units.show_size(1_572_864) == "1.5 MiB"
    assert units.show_size(100) == "100 B"


@pytest.mark.parametrize(
    ("factor", "digits", "text"),
    [
        (28.561, 2, "28.56"),
        (0.5, 2, "0.50"),
        (0.1, 2, "0.10"),
        (0.0347, 2, "0.035"),
        (0.000_02, 2, "0.00002"),
        (0, 2, "0.00"),
        (1.0496, 3, "1.050"),
        (0.0034, 3, "0.0034"),
    ],
)
def test_never_rounds_a_factor_away(factor, digits, text):
    assert units.show_factor(factor, digits) == text
