"""What other tools compute for recorded streams, by their own code.

`python -m other_tools` installs them, gives each the same streams at the same times, and writes
what they say to a file, with which a test of the engine compares `--alias`.
"""
