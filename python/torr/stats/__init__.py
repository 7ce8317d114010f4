"""What the levels say together: series, capacity, scalability. Pure functions on plain dicts."""
