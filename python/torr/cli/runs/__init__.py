"""`torr runs`: the commands for runs in the store, a module each."""
