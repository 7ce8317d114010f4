"""What torr reads from /proc, /sys and netlink: processes, sockets, control groups, the machine."""
