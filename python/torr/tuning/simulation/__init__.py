"""The tuning procedure on synthetic worlds, whose best setting is known."""
