"""torr against what is known."""
