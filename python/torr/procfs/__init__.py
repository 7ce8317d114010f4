"""What the kernel tells in /proc, /sys and over netlink; nothing else of torr opens these files.

Only errors, units and the standard library are imported. `root` is the folder in which proc and sys
are, so that tests can describe processes and machines of their own.
"""
