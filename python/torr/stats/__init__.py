"""Series, estimates and fits: pure functions of typed levels and of numbers."""
