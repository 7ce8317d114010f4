"""Results as the engine and the experiments write them; `results` makes them."""

import pytest

import results


@pytest.fixture
def make_level():
    return results.level


@pytest.fixture
def make_station():
    return results.station


@pytest.fixture
def make_result():
    return results.result


@pytest.fixture
def ladder():
    return results.ladder()


@pytest.fixture
def limited_ladder():
    return results.limited_ladder()


@pytest.fixture
def collapsing_ladder():
    return results.collapsing_ladder()


@pytest.fixture
def run():
    return results.run()


@pytest.fixture
def streamed():
    return results.streamed()


@pytest.fixture
def streamed_ladder():
    return results.streamed_ladder()


@pytest.fixture
def sides():
    return results.sides()


@pytest.fixture
def diffed():
    return results.diffed()
