"""What target and machine did while the load went on: /proc, Prometheus' texts, PromQL."""
