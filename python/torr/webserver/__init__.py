"""Pages for browsers on this machine: who may ask, a door, a server in a thread of its own."""
