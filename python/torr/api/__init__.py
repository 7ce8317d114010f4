"""torr as a Python library: `torr.run`, `torr.ladder`, `torr.once`, `torr.tune`, `torr.load`.

The keywords are made from the flags of the commands, so both accept the same values and give the
same error messages. Nothing is printed.
"""
