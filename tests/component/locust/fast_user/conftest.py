import pytest


@pytest.fixture
def family():
    return "fast"
