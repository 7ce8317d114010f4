"""The texts of torr in each of its languages."""
