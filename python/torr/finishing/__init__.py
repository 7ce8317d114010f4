"""The end of every run after its measurement: the same order for all verbs."""
