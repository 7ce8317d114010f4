"""The data that the page draws, as JSON."""
