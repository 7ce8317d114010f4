"""What measurements are worth: pure functions of typed results. Nothing is printed or written."""
