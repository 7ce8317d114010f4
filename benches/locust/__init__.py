"""What the users of a locustfile cost."""
