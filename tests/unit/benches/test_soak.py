"""What a soak calls growth: of memory, and of descriptors that are never given back."""

import pytest

from truth.soak import Sample, growth_of, slope_error, slope_per_hour


def samples(held, rss=lambda _at: 50.0):
    """A look a second, of a process that holds so many descriptors and MB at each."""
    return [Sample(float(at), rss(at), held(at)) for at in range(40)]


def test_a_file_that_is_open_for_a_moment_is_no_loss():
    assert growth_of(samples(lambda at: 70 + (at in (3, 35)))) == (0.0, 0)


def test_one_lost_descriptor_is_found():
    assert growth_of(samples(lambda at: 70 + (at > 20)))[1] == 1


def test_a_slow_loss_is_found():
    assert growth_of(samples(lambda at: 70 + at // 10))[1] == 3


def test_memory_that_grows_is_told_and_one_look_beside_it_is_not():
    assert growth_of(samples(lambda _at: 70, lambda at: 50.0 + 5 * (at == 39)))[0] == 0
    assert growth_of(samples(lambda _at: 70, lambda at: 50.0 + at / 10))[0] == 3.0


def memory(rss):
    """Return ten minutes of samples whose memory is `rss` of their second."""
    return [Sample(float(at), rss(at), 70) for at in range(600)]


def test_a_line_has_no_error_and_its_slope_is_that_of_an_hour():
    grows = memory(lambda at: 50.0 + at / 3600)
    assert slope_per_hour(grows) == pytest.approx(1)
    assert slope_error(grows) == pytest.approx(0, abs=1e-9)


def test_steps_in_both_directions_have_an_error_larger_than_their_slope():
    steps = memory(lambda at: 50.0 + at // 60 % 2)
    assert slope_error(steps) > abs(slope_per_hour(steps))
