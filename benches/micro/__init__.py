"""What torr says of functions in its own process, against what is known and what others say."""
