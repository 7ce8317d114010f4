"""torr against other tools."""
