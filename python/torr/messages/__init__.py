"""What torr says to people, in each of its languages."""
