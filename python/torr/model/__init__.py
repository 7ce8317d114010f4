"""What torr talks about: plans, conditions, results. Typed once, at the edge."""
