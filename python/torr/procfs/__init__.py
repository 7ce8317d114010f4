"""Read processes, sockets and machine data from /proc, /sys and netlink, for all of torr.

Only errors, units and the standard library are imported. `root` is the folder that contains proc
and sys, so that tests can simulate processes and machines.
"""
