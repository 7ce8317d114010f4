"""Files that say what is sent, with which values, and when: read once, before any load."""
