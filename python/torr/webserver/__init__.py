"""Serve pages to browsers: access control, a listening socket, a server in a thread."""
