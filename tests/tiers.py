"""Marks parameters of unit and component tests as belonging to the tier `full`."""

import pytest


def full(*values):
    """Return parameters that `make test` leaves out and `make test-full` runs."""
    return [pytest.param(value, marks=pytest.mark.full) for value in values]
