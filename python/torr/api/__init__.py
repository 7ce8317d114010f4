"""torr as a Python library: `torr.run`, `torr.ladder`, `torr.once`, `torr.load`.

What a command's flags are in a shell, keywords are here: they are read from the flags themselves,
so that both doors take the same words and refuse them with the same message. Nothing is printed.
"""
