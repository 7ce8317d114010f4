"""Which Locust torr works with. Locust itself is not imported: it would change this process."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from torr.errors import UsageError
from torr.locust.compatibility import OLDEST, REQUIRED_NAMES, TESTED, check

REPO = Path(__file__).parents[2]


def modules(*, without=None):
    """Return a loader of modules with all names that torr needs, `without` one of them."""
    made = {}
    for module, names in REQUIRED_NAMES.items():
        made[module] = SimpleNamespace()
        for name in names:
            if f"{module}.{name}" == without:
                continue
            place = made[module]
            *owners, last = name.split(".")
            for owner in owners:
                place.__dict__.setdefault(owner, SimpleNamespace())
                place = getattr(place, owner)
            setattr(place, last, object())

    def load(module):
        if module == without:
            raise ImportError(module)
        return made[module]

    return load


@pytest.mark.parametrize("version", ["2.32", "2.32.0", "2.47.0", "2.48.1", "2.100.0.dev1"])
def test_a_locust_that_has_everything_will_do(version):
    check(version, modules())


@pytest.mark.parametrize("version", ["2.31.8", "1.6", "3.0.0", "3.0.0b1"])
def test_another_version_is_refused_with_the_one_to_install(version):
    with pytest.raises(UsageError) as caught:
        check(version, modules())
    assert caught.value.message == f"torr works with Locust {OLDEST} to {TESTED}; this is {version}"
    assert caught.value.hint == "pip install 'torr[locust]' 'locust>=2.32,<2.48'"


@pytest.mark.parametrize(
    "lacking", ["locust.stats.StatsEntry._cache_response_times", "locust.main"]
)
def test_a_locust_without_a_name_that_torr_needs_is_refused(lacking):
    with pytest.raises(UsageError, match=f"this is 2.48.0, .*{re.escape(lacking)}.* is missing"):
        check("2.48.0", modules(without=lacking))


def test_the_newest_tested_version_is_the_pinned_one():
    pins = (REPO / "requirements" / "dev.txt").read_text()
    # An older Python has an older one.
    assert re.findall(r"^locust==(\d+\.\d+)", pins, re.MULTILINE)[-1] == TESTED
    oldest = (REPO / "requirements" / "locust-oldest.in").read_text()
    assert re.findall(r"^locust==(\d+\.\d+)", oldest, re.MULTILINE) == [OLDEST]
