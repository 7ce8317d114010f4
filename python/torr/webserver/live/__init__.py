"""The live page's server: what a run does, over HTTP, while it does it."""
