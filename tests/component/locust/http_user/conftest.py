import pytest


@pytest.fixture
def family():
    return "http"
