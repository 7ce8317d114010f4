"""The collector of reference cycles pauses where it is asked to, and is as before afterwards."""

import gc

import pytest

from torr.collector import paused_collector

MANY = 50_000


def test_it_pauses_within_the_block_and_goes_on_behind_it():
    with paused_collector():
        assert not gc.isenabled()
        with paused_collector():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_goes_on_after_an_error():
    with pytest.raises(ValueError, match="within"), paused_collector():
        raise ValueError("within")
    assert gc.isenabled()


def test_a_collector_that_is_off_stays_off():
    gc.disable()
    try:
        with paused_collector():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_what_is_made_in_the_block_is_not_young_behind_it():
    with paused_collector():
        made = [[] for _ in range(MANY)]
        assert gc.get_count()[0] > MANY // 2
    assert len(made) == MANY
    assert gc.get_count()[0] < MANY // 2


def test_objects_that_were_frozen_stay_frozen():
    gc.freeze()
    try:
        count = gc.get_freeze_count()
        with paused_collector():
            pass
        assert gc.get_freeze_count() >= count > 0
    finally:
        gc.unfreeze()
