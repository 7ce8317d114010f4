import numpy as np
import pytest

from torr.stats import usl
from torr.stats.usl import UslPoint

USERS = [1, 2, 4, 8, 16, 32, 64, 128, 256]


@pytest.fixture(autouse=True)
def few_refits(monkeypatch):
    """Intervals of 60 refits are rough; golden files have those of as many as a run has."""
    monkeypatch.setattr(usl, "BOOTSTRAPS", 60)


def law(users, rate=1000.0, sigma=0.03, kappa=0.0005):
    return rate * users / (1 + sigma * (users - 1) + kappa * users * (users - 1))


def curve(users=USERS, noise=0.0, seed=1, **parameters):
    random = np.random.default_rng(seed)
    return [UslPoint(n, law(n, **parameters) * np.exp(noise * random.normal())) for n in users]


def plateau_start(levels):
    peak = max(level.ok_per_s for level in levels)
    return next(level.users for level in levels if level.ok_per_s >= 0.95 * peak)


def analyse(levels, **options):
    return usl.analyse(levels, plateau_start(levels), **options)


@pytest.mark.parametrize(
    ("rate", "sigma", "kappa"),
    [(1000, 0.03, 0.0005), (50, 0.3, 0.001), (20_000, 0.01, 0.0002), (7, 0.0, 0.0004)],
)
def test_recovers_known_parameters_from_a_clean_curve(rate, sigma, kappa):
    found, reasons = analyse(curve(rate=rate, sigma=sigma, kappa=kappa))
    assert found.lambda_ == pytest.approx(rate, rel=1e-3)
    assert found.sigma == pytest.approx(sigma, abs=1e-4)
    assert found.kappa == pytest.approx(kappa, rel=1e-3)
    assert found.n_star == pytest.approx(np.sqrt((1 - sigma) / kappa), rel=1e-3)
    assert found.r2 > 0.9999
    assert reasons == {}


def test_recovers_known_parameters_within_a_tenth_under_two_percent_noise():
    fits = []
    for seed in range(40):
        levels = curve(noise=0.02, seed=seed)
        fits.append(usl.fit(np.array(USERS, dtype=float), np.array([x.ok_per_s for x in levels])))
    for name, true in (("rate", 1000), ("kappa", 0.0005), ("sigma", 0.03)):
        off = [abs(getattr(fit, name) / true - 1) for fit in fits]
        assert np.median(off) < 0.1, name


@pytest.mark.full
def test_the_interval_of_kappa_covers_the_truth_most_of_the_time():
    covered = []
    for seed in range(30):
        found, _ = analyse(curve(noise=0.02, seed=seed))
        if found is not None:
            low, high = found.kappa_interval
            covered.append(low <= 0.0005 <= high)
    assert len(covered) >= 25
    assert np.mean(covered) > 0.75


def test_levels_of_tens_of_thousands_of_users_are_fitted_as_well():
    users = [100, 200, 500, 1000, 3000, 5000, 10_000, 20_000, 50_000]
    found, _ = analyse(curve(users=users, rate=20, sigma=1e-4, kappa=1e-8))
    assert found.kappa == pytest.approx(1e-8, rel=0.01)
    assert found.n_star == pytest.approx(9_999.5, rel=0.01)


def test_the_same_levels_and_seed_give_the_same_numbers():
    levels = curve(noise=0.01, seed=4)
    assert analyse(levels) == analyse(levels)


def test_without_coherency_cost_no_n_star_is_claimed():
    found, reasons = analyse(curve(noise=0.003, kappa=0.0, sigma=0.2, seed=2))
    assert found.n_star is None
    assert "κ cannot be distinguished from 0" in reasons["n_star"]


def test_an_n_star_beyond_the_ladder_is_not_claimed():
    found, reasons = analyse(curve(users=[1, 2, 4, 8, 16, 24, 32], sigma=0.4, kappa=0.0004))
    assert found.n_star is None
    assert reasons["n_star"] == "N* of 39 lies outside the measured levels, 1 to 32"


def test_five_levels_are_too_few():
    found, reasons = analyse(curve(users=USERS[:5]))
    assert found is None
    assert reasons["usl"] == "needs 6 levels with success ≥ 99 %, there are 5"


def test_a_ladder_that_starts_near_its_peak_is_not_fitted():
    found, reasons = analyse(curve(users=[16, 32, 48, 64, 96, 128, 256]))
    assert found is None
    assert reasons["usl"].startswith("the ladder starts too late: its lowest level, 16,")


def test_a_ladder_that_ends_before_its_plateau_is_not_fitted():
    found, reasons = analyse(curve(users=[1, 2, 3, 4, 5, 6, 7]))
    assert found is None
    assert reasons["usl"].startswith("the ladder ends too early: 0 of the 2 levels")


def test_scattered_levels_are_not_claimed():
    scattered = [
        UslPoint(level.users, level.ok_per_s * (1.3 if i % 2 else 0.75))
        for i, level in enumerate(curve())
    ]
    found, reasons = analyse(scattered)
    assert found is None
    assert "levels deviate" in reasons["usl"]
    assert "R²" in reasons["usl"]


def test_rounds_that_scatter_allow_the_fit_to_scatter_as_much():
    scattered = [
        UslPoint(level.users, level.ok_per_s * (1.15 if i % 2 else 0.87), spread=0.2)
        for i, level in enumerate(curve())
    ]
    assert analyse(scattered)[0] is not None
    tight = [UslPoint(level.users, level.ok_per_s, spread=0.01) for level in scattered]
    assert analyse(tight)[0] is None


def test_a_bend_that_is_not_this_law_is_not_claimed():
    # A queue with a hard limit: linear, then flat. Every level is near, but on one side in a row.
    users = [1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32]
    levels = [UslPoint(n, 1000.0 * min(n, 10) ** 0.98) for n in users]
    found, reasons = analyse(levels)
    assert found is None
    assert "the law does not fit" in reasons["usl"]


def test_a_run_of_four_equal_signs_is_seen():
    assert usl._longest_run([1, 1, 1, -1, 1]) == 3
    assert usl._longest_run([-1, 1, 1, 1, 1]) == 4
    assert usl._longest_run([1, 1, 0, 1, 1]) == 2
    assert usl._longest_run([]) == 0
