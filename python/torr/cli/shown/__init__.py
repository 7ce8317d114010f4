"""What a terminal shows of a result, by its kind."""
