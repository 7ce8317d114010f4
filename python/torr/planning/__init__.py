"""From typed options to a plan: what is sent, when, over what, and what is watched meanwhile."""
