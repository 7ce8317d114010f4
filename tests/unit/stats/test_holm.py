from torr.stats import holm


def test_p_values_are_adjusted_step_by_step():
    # 4 × 0.01; 3 × 0.015 = 0.045; 2 × 0.02 = 0.04, never below the one before; 1 × 0.7.
    assert holm.adjusted([0.02, 0.7, 0.01, 0.015]) == [0.045, 0.7, 0.04, 0.045]


def test_an_adjusted_p_is_at_most_one():
    assert holm.adjusted([0.6, 0.9]) == [1, 1]
    assert holm.adjusted([]) == []
