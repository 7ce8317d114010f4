"""What belongs to the tier `full` though its file is of a quicker one."""

import pytest


def full(*values):
    """Return parameters that `make test` leaves out."""
    return [pytest.param(value, marks=pytest.mark.full) for value in values]
