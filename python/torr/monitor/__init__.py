"""Monitor target, generator and machine during a load: /proc, Prometheus' text format, PromQL."""
