"""A server's life under comparison: started under a watcher, checked, stopped, nothing left."""
